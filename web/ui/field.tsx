import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";

type FieldProps = {
  label: string;
  hint?: ComponentChildren;
  /** The server's sentence about this field. */
  problem?: string | undefined;
  children: (attributes: { id: string; "aria-describedby"?: string; "aria-invalid"?: boolean }) => ComponentChildren;
};

/** A label, a control, and what is to be said about it. */
export function Field({ label, hint, problem, children }: FieldProps) {
  const id = useId();
  const described = [hint ? `${id}-hint` : "", problem ? `${id}-problem` : ""].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, ...(described && { "aria-describedby": described }), ...(problem && { "aria-invalid": true }) })}
      {hint && (
        <p class="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problem && (
        <p class="field-problem" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </div>
  );
}

type TextFieldProps = Omit<JSX.InputHTMLAttributes, "value" | "onInput" | "label"> & {
  label: string;
  value: string;
  onValue: (value: string) => void;
  hint?: ComponentChildren;
  problem?: string | undefined;
};

export function TextField({ label, value, onValue, hint, problem, ...rest }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(attributes) => (
        <input
          {...rest}
          {...attributes}
          class="input"
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

type SelectFieldProps = {
  label: string;
  value: string;
  options: readonly { value: string; label: string }[];
  onValue: (value: string) => void;
  hint?: ComponentChildren;
  problem?: string | undefined;
  disabled?: boolean;
};

/** A choice for each of the values, in their order, with the words for it. */
export function optionsOf<Value extends string>(
  words: Record<Value, string>,
  values: readonly Value[] = Object.keys(words) as Value[],
): { value: Value; label: string }[] {
  return values.map((value) => ({ value, label: words[value] }));
}

export function SelectField({ label, value, options, onValue, hint, problem, disabled = false }: SelectFieldProps) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(attributes) => (
        <select
          {...attributes}
          class="input"
          value={value}
          disabled={disabled}
          onChange={(event) => onValue(event.currentTarget.value)}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

type TextAreaProps = Omit<TextFieldProps, "type"> & { rows?: number };

export function TextArea({ label, value, onValue, hint, problem, rows = 4, required, disabled }: TextAreaProps) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(attributes) => (
        <textarea
          {...attributes}
          class="input"
          rows={rows}
          required={required}
          disabled={disabled}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

type CheckFieldProps = {
  label: ComponentChildren;
  checked: boolean;
  onChecked: (checked: boolean) => void;
  /** Something that is on or off, as opposed to one of several choices. */
  isSwitch?: boolean;
  disabled?: boolean;
  hint?: ComponentChildren;
};

export function CheckField({ label, checked, onChecked, isSwitch = false, disabled = false, hint }: CheckFieldProps) {
  const id = useId();
  return (
    <div class="check">
      <input
        id={id}
        type="checkbox"
        {...(isSwitch && { role: "switch" as const })}
        checked={checked}
        disabled={disabled}
        {...(hint && { "aria-describedby": `${id}-hint` })}
        onChange={(event) => onChecked(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {hint && (
        <p class="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
