import { texts } from "../texts/schema-form.ts";
import type { JsonObject } from "../values.ts";
import { FormFieldInput } from "./field-input.tsx";
import { type FormField, fieldsOf, withMember } from "./model.ts";

export type FieldContext = {
  /** The server's sentences, by the paths of fields. */
  problems: Readonly<Record<string, string>>;
  /** The JSON Schema of the variables in scope, if texts are templates. */
  variables?: Record<string, unknown> | undefined;
  disabled: boolean;
};

type SchemaFormProps = FieldContext & {
  schema: JsonObject;
  widgets?: JsonObject;
  values: JsonObject;
  onValues: (values: JsonObject) => void;
  /** Members that are edited elsewhere. */
  without?: readonly string[];
  /** Members that show at once; the others are behind a heading. Without it, all of them show. */
  first?: readonly string[];
  path?: string;
};

/** A form for an object of a JSON Schema. */
export function SchemaForm(props: SchemaFormProps) {
  const { schema, widgets, values, without = [], first } = props;
  const fields = fieldsOf(schema, values, widgets).filter((field) => !without.includes(field.name));
  const shown = first ? fields.filter((field) => first.includes(field.name)) : fields;
  const more = fields.filter((field) => !shown.includes(field));
  return (
    <div class="schema-form">
      {shown.map((field) => (
        <Member key={field.name} field={field} form={props} />
      ))}
      {more.length > 0 && (
        <details class="schema-more" open={more.some((field) => isInUse(field, props))}>
          <summary>{texts.more}</summary>
          <div class="schema-form">
            {more.map((field) => (
              <Member key={field.name} field={field} form={props} />
            ))}
          </div>
        </details>
      )}
    </div>
  );
}

function Member({ field, form }: { field: FormField; form: SchemaFormProps }) {
  const { values, onValues, problems, variables, disabled, path = "" } = form;
  return (
    <FormFieldInput
      field={field}
      path={path + field.name}
      value={values[field.name]}
      onValue={(value) => onValues(withMember(values, field.name, value))}
      context={{ problems, variables, disabled }}
    />
  );
}

function isInUse(field: FormField, { values, problems, path = "" }: SchemaFormProps): boolean {
  const value = values[field.name];
  const whole = path + field.name;
  const hasProblem = Object.keys(problems).some((one) => one === whole || one.startsWith(`${whole}.`));
  return hasProblem || (value !== undefined && value !== null && value !== "" && value !== false);
}
