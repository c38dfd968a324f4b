import { CodeEditor } from "../../ui/code-editor.tsx";
import { CheckField, SelectField, TextField } from "../../ui/field.tsx";
import { texts } from "../texts/schema-form.ts";
import { isObject } from "../values.ts";
import { JsonField } from "./json-field.tsx";
import { PairsField, TextsField } from "./list-fields.tsx";
import type { FormField, PlainField } from "./model.ts";

export type FieldContext = {
  /** The server's sentences, by the paths of fields. */
  problems: Readonly<Record<string, string>>;
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
  context: FieldContext;
};

const BODY_ROWS = 10;
const TEXT_ROWS = 5;

/** The control for one field of a schema that is no object. */
export function FieldControl(props: FieldProps<PlainField>) {
  const { field, path, value, onValue, context } = props;
  const problem = context.problems[path];
  const common = { label: field.title, hint: field.hint, problem, disabled: context.disabled };
  switch (field.kind) {
    case "text":
    case "html":
      return <TextControl {...props} />;
    case "number":
      return (
        <TextField
          {...common}
          type="number"
          min={0}
          step={field.isWhole ? 1 : "any"}
          placeholder={field.placeholder}
          value={typeof value === "number" ? String(value) : ""}
          onValue={(text) => onValue(text === "" ? undefined : Number(text))}
        />
      );
    case "choice":
      return (
        <SelectField
          {...common}
          value={typeof value === "string" ? value : ""}
          options={[{ value: "", label: texts.notSet }, ...optionsOf(field)]}
          onValue={(chosen) => onValue(chosen === "" ? undefined : chosen)}
        />
      );
    case "flag":
      return (
        <CheckField
          label={field.title}
          hint={problem ?? field.hint}
          isSwitch
          checked={value === true}
          disabled={context.disabled}
          onChecked={(checked) => onValue(checked || undefined)}
        />
      );
    case "texts":
      return <TextsField {...common} value={Array.isArray(value) ? value.map(String) : []} onValue={onValue} />;
    case "pairs":
      return <PairsField {...common} value={isObject(value) ? value : {}} onValue={onValue} />;
    case "json":
      return <JsonField {...common} value={value} onValue={onValue} />;
  }
}

function TextControl({ field, path, value, onValue, context }: FieldProps<PlainField>) {
  const common = {
    label: field.title,
    problem: context.problems[path],
    value: typeof value === "string" ? value : "",
    disabled: context.disabled,
    onValue: (text: string) => onValue(text === "" ? undefined : text),
  };
  if (!context.variables) {
    return <TextField {...common} hint={field.hint} placeholder={field.placeholder} />;
  }
  const rows = field.kind === "html" ? BODY_ROWS : field.name === "body" ? TEXT_ROWS : 1;
  return (
    <CodeEditor
      {...common}
      {...(field.hint && { hint: field.hint })}
      language={field.kind === "html" ? "html" : "text"}
      variables={context.variables}
      rows={rows}
    />
  );
}

function optionsOf(field: PlainField) {
  return (field.options ?? []).map((value) => ({ value, label: texts.choices[value] ?? value }));
}
