/** What the editor of a field gets. */
import type { ComponentType } from "preact";
import type { FormField, PlainField } from "./model.ts";

export type FieldContext = {
  /** The server's sentences, by the paths of fields. */
  problems: Readonly<Record<string, string>>;
  /** What the server remarks about fields that are in order, by their paths. */
  remarks?: Readonly<Record<string, readonly string[]>> | undefined;
  /** The JSON Schema of the variables in scope, if texts are templates. */
  variables?: Record<string, unknown> | undefined;
  disabled: boolean;
};

export type FieldProps<Field extends FormField> = {
  field: Field;
  path: string;
  value: unknown;
  /** Undefined removes the member. */
  onValue: (value: unknown) => void;
  /** The object that the field is a member of, for editors of several members. */
  values: Readonly<Record<string, unknown>>;
  onValues: (values: Record<string, unknown>) => void;
  context: FieldContext;
};

export type FieldEditor = ComponentType<FieldProps<PlainField>>;
