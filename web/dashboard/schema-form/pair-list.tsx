/** A list of objects with two texts each, as the API has headers of requests and choices of questions. */
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { texts } from "../texts/schema-form.ts";
import { isObject } from "../values.ts";
import type { FieldProps } from "./field.ts";
import type { PlainField } from "./model.ts";

type PairListProps = FieldProps<PlainField> & {
  /** The two members of an object, with what their fields are called. */
  members: readonly [name: string, label: string][];
};

export function PairList({ field, path, value, onValue, context, members }: PairListProps) {
  const { disabled, problems } = context;
  const pairs = Array.isArray(value) ? value.filter(isObject) : [];
  function change(changed: unknown[]) {
    onValue(changed.length === 0 ? undefined : changed);
  }
  return (
    <fieldset class="schema-group">
      <legend>{field.title}</legend>
      {field.hint && <p class="field-hint">{field.hint}</p>}
      {pairs.map((pair, index) => (
        <div class="schema-entry" key={index}>
          {members.map(([name, label]) => (
            <TextField
              key={name}
              label={label}
              value={String(pair[name] ?? "")}
              disabled={disabled}
              problem={problems[`${path}.${index}.${name}`]}
              onValue={(typed) => change(pairs.with(index, { ...pair, [name]: typed }))}
            />
          ))}
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
          <Button
            kind="quiet"
            onClick={() => change([...pairs, Object.fromEntries(members.map(([name]) => [name, ""]))])}
          >
            + {texts.addTo(field.title)}
          </Button>
        </div>
      )}
    </fieldset>
  );
}
