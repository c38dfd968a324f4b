/** A list of names with values, such as headers, as the API has it: objects with `key` and `value`. */
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { texts } from "../texts/schema-form.ts";
import { isObject } from "../values.ts";
import type { FieldProps } from "./field.ts";
import type { PlainField } from "./model.ts";

type Pair = { key: string; value: string };

export default function KeyValuesField({ field, path, value, onValue, context }: FieldProps<PlainField>) {
  const { disabled, problems } = context;
  const pairs = pairsOf(value);
  function change(changed: Pair[]) {
    onValue(changed.length === 0 ? undefined : changed);
  }
  return (
    <fieldset class="schema-group">
      <legend>{field.title}</legend>
      {field.hint && <p class="field-hint">{field.hint}</p>}
      {pairs.map((pair, index) => (
        <div class="schema-entry" key={index}>
          <TextField
            label={texts.pairName}
            value={pair.key}
            disabled={disabled}
            problem={problems[`${path}.${index}.key`]}
            onValue={(key) => change(pairs.with(index, { ...pair, key }))}
          />
          <TextField
            label={texts.pairValue}
            value={pair.value}
            disabled={disabled}
            problem={problems[`${path}.${index}.value`]}
            onValue={(typed) => change(pairs.with(index, { ...pair, value: typed }))}
          />
          {!disabled && (
            <Button
              kind="quiet"
              aria-label={texts.remove(texts.entry(field.title, index + 1))}
              onClick={() => change(pairs.toSpliced(index, 1))}
            >
              ✕
            </Button>
          )}
        </div>
      ))}
      {problems[path] && <p class="field-problem">{problems[path]}</p>}
      {!disabled && (
        <div>
          <Button kind="quiet" onClick={() => change([...pairs, { key: "", value: "" }])}>
            + {texts.addTo(field.title)}
          </Button>
        </div>
      )}
    </fieldset>
  );
}

function pairsOf(value: unknown): Pair[] {
  const given = Array.isArray(value) ? value.filter(isObject) : [];
  return given.map((one) => ({ key: String(one.key ?? ""), value: String(one.value ?? "") }));
}
