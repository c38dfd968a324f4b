import { useEffect, useId, useRef, useState } from "preact/hooks";
import { CheckField } from "./field.tsx";
import { texts } from "./texts.ts";

type ChoicesProps<Value extends string> = {
  label: string;
  options: readonly { value: Value; label: string }[];
  /** None chosen means any. */
  values: readonly Value[];
  onValues: (values: Value[]) => void;
};

/** Several of a few: a button that opens a list of checkboxes; Escape closes it. */
export function Choices<Value extends string>({ label, options, values, onValues }: ChoicesProps<Value>) {
  const id = useId();
  const element = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);

  useEffect(() => {
    if (!isOpen) {
      return;
    }
    function closeOutside(event: Event) {
      if (!element.current?.contains(event.target as Node)) {
        setOpen(false);
      }
    }
    addEventListener("pointerdown", closeOutside);
    addEventListener("focusin", closeOutside);
    return () => {
      removeEventListener("pointerdown", closeOutside);
      removeEventListener("focusin", closeOutside);
    };
  }, [isOpen]);

  function toggle(value: Value, isChosen: boolean) {
    const others = values.filter((one) => one !== value);
    onValues(isChosen ? [...others, value] : others);
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only hears Escape of the controls inside
    <div
      ref={element}
      class="field choices"
      onKeyDown={(event) => {
        if (event.key === "Escape" && isOpen) {
          event.stopPropagation();
          setOpen(false);
          button.current?.focus();
        }
      }}
    >
      <label id={`${id}-label`} for={id}>
        {label}
      </label>
      <button
        ref={button}
        type="button"
        id={id}
        class="input choices-button"
        aria-labelledby={`${id}-label ${id}`}
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        onClick={() => setOpen(!isOpen)}
      >
        {summaryOf(options, values)}
      </button>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be named by the label that is there */}
      <div id={`${id}-list`} class="choices-list" role="group" aria-labelledby={`${id}-label`} hidden={!isOpen}>
        {options.map((option) => (
          <CheckField
            key={option.value}
            label={option.label}
            checked={values.includes(option.value)}
            onChecked={(isChosen) => toggle(option.value, isChosen)}
          />
        ))}
      </div>
    </div>
  );
}

function summaryOf(options: readonly { value: string; label: string }[], values: readonly string[]): string {
  if (values.length === 0) {
    return texts.any;
  }
  const [first] = values;
  return values.length > 1 || first === undefined
    ? texts.chosen(values.length)
    : (options.find((one) => one.value === first)?.label ?? first);
}
