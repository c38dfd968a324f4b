import { useId } from "preact/hooks";

type ChoiceRowProps<Value extends string> = {
  label: string;
  words: Record<Value, string>;
  value: Value;
  onValue: (value: Value) => void;
};

/** One of a few, all of them in a row. */
export function ChoiceRow<Value extends string>({ label, words, value, onValue }: ChoiceRowProps<Value>) {
  const name = useId();
  return (
    <fieldset class="preview-widths">
      <legend class="visually-hidden">{label}</legend>
      {(Object.keys(words) as Value[]).map((one) => (
        <label key={one}>
          <input type="radio" name={name} checked={value === one} onChange={() => onValue(one)} />
          {words[one]}
        </label>
      ))}
    </fieldset>
  );
}
