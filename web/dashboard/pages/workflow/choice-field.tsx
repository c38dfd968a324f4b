import { SelectField } from "../../../ui/field.tsx";

type ChoiceFieldProps = {
  label: string;
  /** The words of each choice: "" is as the environment does. */
  choices: Readonly<Record<"" | "on" | "off", string>>;
  value: boolean | null;
  onValue: (value: boolean | null) => void;
  disabled: boolean;
};

/** What the workflow decides instead of its environment; null: as the environment does. */
export function ChoiceField({ label, choices, value, onValue, disabled }: ChoiceFieldProps) {
  return (
    <SelectField
      label={label}
      value={value === null ? "" : value ? "on" : "off"}
      options={Object.entries(choices).map(([choice, text]) => ({ value: choice, label: text }))}
      onValue={(choice) => onValue(choice === "" ? null : choice === "on")}
      disabled={disabled}
    />
  );
}
