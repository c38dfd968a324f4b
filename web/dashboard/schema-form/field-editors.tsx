import { CodeEditor } from "../../ui/code-editor.tsx";
import { CheckField, SelectField, TextField } from "../../ui/field.tsx";
import { texts } from "../texts/schema-form.ts";
import { isObject } from "../values.ts";
import type { FieldEditor, FieldProps } from "./field.ts";
import { JsonField } from "./json-field.tsx";
import { PairsField, TextsField } from "./list-fields.tsx";
import type { PlainField, PlainKind } from "./model.ts";

const BODY_ROWS = 10;
const TEXT_ROWS = 5;

/** The editor of each kind of field. */
export const KIND_EDITORS: Record<PlainKind, FieldEditor> = {
  text: TextEditor,
  html: TextEditor,
  number: NumberEditor,
  choice: ChoiceEditor,
  flag: FlagEditor,
  texts: (props) => (
    <TextsField
      {...commonOf(props)}
      value={Array.isArray(props.value) ? props.value.map(String) : []}
      onValue={props.onValue}
    />
  ),
  pairs: (props) => (
    <PairsField {...commonOf(props)} value={isObject(props.value) ? props.value : {}} onValue={props.onValue} />
  ),
  json: (props) => <JsonField {...commonOf(props)} value={props.value} onValue={props.onValue} />,
};

function commonOf({ field, path, context }: FieldProps<PlainField>) {
  return { label: field.title, hint: field.hint, problem: context.problems[path], disabled: context.disabled };
}

function NumberEditor(props: FieldProps<PlainField>) {
  const { field, value, onValue } = props;
  return (
    <TextField
      {...commonOf(props)}
      type="number"
      min={0}
      step={field.isWhole ? 1 : "any"}
      placeholder={field.placeholder}
      value={typeof value === "number" ? String(value) : ""}
      onValue={(text) => onValue(text === "" ? undefined : Number(text))}
    />
  );
}

function ChoiceEditor(props: FieldProps<PlainField>) {
  const { field, value, onValue } = props;
  return (
    <SelectField
      {...commonOf(props)}
      value={typeof value === "string" ? value : ""}
      options={[{ value: "", label: texts.notSet }, ...optionsOf(field)]}
      onValue={(chosen) => onValue(chosen === "" ? undefined : chosen)}
    />
  );
}

function FlagEditor({ field, path, value, onValue, context }: FieldProps<PlainField>) {
  return (
    <CheckField
      label={field.title}
      hint={context.problems[path] ?? field.hint}
      isSwitch
      checked={value === true}
      disabled={context.disabled}
      onChecked={(checked) => onValue(checked || undefined)}
    />
  );
}

function TextEditor(props: FieldProps<PlainField>) {
  const { field, value, onValue, context } = props;
  const { hint, ...common } = {
    ...commonOf(props),
    value: typeof value === "string" ? value : "",
    onValue: (text: string) => onValue(text === "" ? undefined : text),
  };
  if (!context.variables) {
    return <TextField {...common} hint={hint} placeholder={field.placeholder} />;
  }
  const rows = field.kind === "html" ? BODY_ROWS : field.name === "body" ? TEXT_ROWS : 1;
  return (
    <CodeEditor
      {...common}
      {...(hint && { hint })}
      language={field.kind === "html" ? "html" : "text"}
      variables={context.variables}
      rows={rows}
    />
  );
}

function optionsOf(field: PlainField) {
  return (field.options ?? []).map((value) => ({ value, label: texts.choices[value] ?? value }));
}
