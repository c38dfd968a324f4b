import { useState } from "preact/hooks";
import { JsonField } from "../schema-form/json-field.tsx";
import { SchemaForm } from "../schema-form/schema-form.tsx";
import { texts } from "../texts/test-panel.ts";
import { isObject } from "../values.ts";
import { hasFields } from "./model.ts";

type PayloadFieldProps = {
  schema: Record<string, unknown> | undefined;
  payload: Record<string, unknown>;
  onPayload: (payload: Record<string, unknown>) => void;
};

type Form = keyof typeof texts.payloadForms;

/** The payload as a form of its schema, or as JSON. */
export function PayloadField({ schema, payload, onPayload }: PayloadFieldProps) {
  const [chosen, setChosen] = useState<Form>("form");
  const isForm = hasFields(schema) && chosen === "form";
  return (
    <div class="stack">
      {hasFields(schema) && (
        <fieldset class="test-choice">
          <legend>{texts.payloadAs}</legend>
          {(Object.keys(texts.payloadForms) as Form[]).map((form) => (
            <label key={form}>
              <input type="radio" name="payload-form" checked={chosen === form} onChange={() => setChosen(form)} />
              {texts.payloadForms[form]}
            </label>
          ))}
        </fieldset>
      )}
      {isForm ? (
        <SchemaForm schema={schema} values={payload} onValues={onPayload} problems={{}} disabled={false} />
      ) : (
        <JsonField
          label={texts.payload}
          value={payload}
          onValue={(value) => onPayload(isObject(value) ? value : {})}
          isObjectWanted
          disabled={false}
        />
      )}
    </div>
  );
}
