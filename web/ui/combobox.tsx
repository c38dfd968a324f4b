import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Field } from "./field.tsx";
import { texts } from "./texts.ts";

export type Choice = { value: string; label: string; detail?: string };

type ComboboxProps = {
  label: string;
  /** The chosen value; it may also be typed without a choice. */
  value: string;
  onValue: (value: string) => void;
  /** What fits to what was typed. */
  suggest: (text: string, signal: AbortSignal) => Promise<readonly Choice[]>;
  placeholder?: string;
  hint?: string;
  problem?: string | undefined;
  /** Whether a choice leaves the field, so that several can be made one after the other. */
  clears?: boolean;
};

const TYPING_PAUSE = 150;

/** A field with suggestions from the server: arrows move, Enter chooses, Escape closes. */
export function Combobox({
  label,
  value,
  onValue,
  suggest,
  placeholder,
  hint,
  problem,
  clears = false,
}: ComboboxProps) {
  const id = useId();
  const [text, setText] = useState(value);
  const [choices, setChoices] = useState<readonly Choice[]>([]);
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const latest = useRef(suggest);
  latest.current = suggest;

  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (!isOpen) {
      return;
    }
    const controller = new AbortController();
    const timer = setTimeout(async () => {
      const found = await latest.current(text, controller.signal).catch(() => []);
      if (!controller.signal.aborted) {
        setChoices(found);
        setActive(-1);
      }
    }, TYPING_PAUSE);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text, isOpen]);

  function choose(chosen: string) {
    setText(clears ? "" : chosen);
    setOpen(false);
    onValue(chosen);
  }

  function handleKey(event: KeyboardEvent) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      setOpen(true);
      const step = event.key === "ArrowDown" ? 1 : -1;
      setActive((now) => (choices.length ? (now + step + choices.length) % choices.length : -1));
    } else if (event.key === "Enter" && isOpen) {
      event.preventDefault();
      choose(choices[active]?.value ?? text);
    } else if (event.key === "Escape" && isOpen) {
      event.preventDefault();
      event.stopPropagation();
      setOpen(false);
    }
  }

  return (
    <Field label={label} hint={hint} problem={problem}>
      {(attributes) => (
        <div class="combobox">
          <input
            {...attributes}
            class="input"
            role="combobox"
            aria-expanded={isOpen && choices.length > 0}
            aria-controls={`${id}-list`}
            aria-autocomplete="list"
            {...(active >= 0 && { "aria-activedescendant": `${id}-${active}` })}
            autoComplete="off"
            placeholder={placeholder}
            value={text}
            onInput={(event) => {
              setText(event.currentTarget.value);
              setOpen(true);
            }}
            onFocus={() => setOpen(true)}
            onKeyDown={handleKey}
            onBlur={() => {
              setOpen(false);
              if (text !== value && !clears) {
                onValue(text);
              }
            }}
          />
          <div
            class="combobox-list"
            id={`${id}-list`}
            role="listbox"
            aria-label={texts.suggestions}
            hidden={!isOpen || choices.length === 0}
          >
            {choices.map((choice, index) => (
              // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus, and names the active one
              // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
              <div
                key={choice.value}
                class="combobox-choice"
                id={`${id}-${index}`}
                role="option"
                aria-selected={index === active}
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => choose(choice.value)}
              >
                <span>{choice.label}</span>
                {choice.detail && <span class="small quiet">{choice.detail}</span>}
              </div>
            ))}
          </div>
        </div>
      )}
    </Field>
  );
}
