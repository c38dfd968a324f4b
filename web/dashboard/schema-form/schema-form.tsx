import { Button } from "../../ui/button.tsx";
import { texts } from "../texts/schema-form.ts";
import { isObject, type JsonObject } from "../values.ts";
import type { FieldContext, FieldProps } from "./field.ts";
import { FieldControl } from "./field-control.tsx";
import { type FormField, fieldsOf, type GroupField, withMember } from "./model.ts";

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

/** The field of a member; `data-path` lets links lead to it. */
function Member({ field, form }: { field: FormField; form: SchemaFormProps }) {
  const { values, onValues, problems, remarks, variables, disabled, path: before = "" } = form;
  const path = before + field.name;
  const control = {
    path,
    value: values[field.name],
    values,
    onValues,
    onValue: (value: unknown) => onValues(withMember(values, field.name, value)),
    context: { problems, remarks, variables, disabled },
  };
  return (
    <div class="schema-field" data-path={path}>
      {field.kind === "group" ? (
        <GroupControl {...control} field={field} />
      ) : (
        <FieldControl {...control} field={field} />
      )}
      {field.kind !== "group" && <Remarks remarks={remarksAt(path, remarks)} />}
    </div>
  );
}

function Remarks({ remarks }: { remarks: readonly string[] }) {
  return (
    remarks.length > 0 && (
      <ul class="field-remarks" aria-label={texts.remarks}>
        {remarks.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    )
  );
}

/** What is remarked about a field, and about places in it. */
function remarksAt(path: string, remarks: FieldContext["remarks"] = {}): string[] {
  return Object.entries(remarks).flatMap(([place, sentences]) => {
    const isInside = place.startsWith(`${path}.`) || place.startsWith(`${path}[`);
    return place === path
      ? sentences
      : isInside
        ? sentences.map((one) => `${place.slice(path.length).replace(/^\./, "")} ${one}`)
        : [];
  });
}

/** An object in the object: it is added and removed as a whole. */
function GroupControl({ field, path, value, onValue, context }: FieldProps<GroupField>) {
  if (!isObject(value)) {
    return context.disabled ? null : (
      <div>
        <Button kind="quiet" onClick={() => onValue({})}>
          + {texts.add(field.title)}
        </Button>
      </div>
    );
  }
  return (
    <fieldset class="schema-group">
      <legend>{field.title}</legend>
      {field.hint && <p class="field-hint">{field.hint}</p>}
      <SchemaForm {...context} schema={field.schema} values={value} onValues={onValue} path={`${path}.`} />
      {!context.disabled && (
        <div>
          <Button kind="quiet" onClick={() => onValue(undefined)}>
            {texts.remove(field.title)}
          </Button>
        </div>
      )}
    </fieldset>
  );
}

function isInUse(field: FormField, { values, problems, path = "" }: SchemaFormProps): boolean {
  const value = values[field.name];
  const whole = path + field.name;
  const hasProblem = Object.keys(problems).some((one) => one === whole || one.startsWith(`${whole}.`));
  return hasProblem || (value !== undefined && value !== null && value !== "" && value !== false);
}
