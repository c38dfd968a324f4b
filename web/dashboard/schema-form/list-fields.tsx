import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { texts } from "../texts/schema-form.ts";
import type { JsonObject } from "../values.ts";

type ListFieldProps<Value> = {
  label: string;
  hint?: string | undefined;
  problem?: string | undefined;
  value: Value;
  onValue: (value: Value | undefined) => void;
  disabled: boolean;
};

/** A list of texts. */
export function TextsField({ label, hint, problem, value, onValue, disabled }: ListFieldProps<string[]>) {
  return (
    <fieldset class="schema-group">
      <legend>{label}</legend>
      {hint && <p class="field-hint">{hint}</p>}
      {value.map((text, index) => (
        <div class="schema-entry" key={index}>
          <TextField
            label={texts.entry(label, index + 1)}
            value={text}
            disabled={disabled}
            onValue={(typed) => onValue(value.with(index, typed))}
          />
          {!disabled && (
            <RemoveEntry title={label} number={index + 1} onRemove={() => onValue(value.toSpliced(index, 1))} />
          )}
        </div>
      ))}
      {problem && <p class="field-problem">{problem}</p>}
      {!disabled && <AddEntry title={label} onAdd={() => onValue([...value, ""])} />}
    </fieldset>
  );
}

/** Texts by their names. */
export function PairsField({ label, hint, problem, value, onValue, disabled }: ListFieldProps<JsonObject>) {
  const pairs = Object.entries(value);
  function change(changed: [string, unknown][]) {
    onValue(changed.length === 0 ? undefined : Object.fromEntries(changed));
  }
  return (
    <fieldset class="schema-group">
      <legend>{label}</legend>
      {hint && <p class="field-hint">{hint}</p>}
      {pairs.map(([name, text], index) => (
        <div class="schema-entry" key={index}>
          <TextField
            label={texts.pairName}
            value={name}
            disabled={disabled}
            onValue={(typed) => change(pairs.with(index, [typed, text]))}
          />
          <TextField
            label={texts.pairValue}
            value={String(text)}
            disabled={disabled}
            onValue={(typed) => change(pairs.with(index, [name, typed]))}
          />
          {!disabled && (
            <RemoveEntry title={label} number={index + 1} onRemove={() => change(pairs.toSpliced(index, 1))} />
          )}
        </div>
      ))}
      {problem && <p class="field-problem">{problem}</p>}
      {!disabled && !("" in value) && <AddEntry title={label} onAdd={() => change([...pairs, ["", ""]])} />}
    </fieldset>
  );
}

function AddEntry({ title, onAdd }: { title: string; onAdd: () => void }) {
  return (
    <div>
      <Button kind="quiet" onClick={onAdd}>
        + {texts.addTo(title)}
      </Button>
    </div>
  );
}

function RemoveEntry({ title, number, onRemove }: { title: string; number: number; onRemove: () => void }) {
  return (
    <Button kind="quiet" aria-label={texts.remove(texts.entry(title, number))} onClick={onRemove}>
      ✕
    </Button>
  );
}
