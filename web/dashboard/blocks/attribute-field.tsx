import { CheckField, SelectField, TextArea, TextField } from "../../ui/field.tsx";
import { texts } from "../texts/blocks.ts";
import type { Attribute } from "./catalog.ts";

type AttributeFieldProps = {
  attribute: Attribute;
  value: unknown;
  /** Undefined: as usual. */
  onValue: (value: unknown) => void;
  /** The id of the list of variables. */
  names: string;
  problem?: string | undefined;
  disabled: boolean;
};

/** The field of one attribute of a block or a mark. */
export function AttributeField({ attribute, value, onValue, names, problem, disabled }: AttributeFieldProps) {
  const { name, kind, options = [], usual } = attribute;
  const label = texts.attributes[name] ?? name;
  const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
  const common = { label, problem, disabled };
  const placeholder = usual === undefined ? undefined : String(usual);
  switch (kind) {
    case "flag":
      return (
        <CheckField
          label={label}
          hint={problem}
          checked={value === true}
          disabled={disabled}
          onChecked={(checked) => onValue(checked)}
        />
      );
    case "choice": {
      const known = options.map((one) => ({ value: one, label: texts.choices[one] ?? one }));
      const isOther = text !== "" && !options.includes(text);
      const others = isOther ? [{ value: text, label: text }] : [];
      return (
        <SelectField
          {...common}
          value={text}
          options={[{ value: "", label: texts.notSet }, ...known, ...others]}
          onValue={(chosen) => onValue(chosen === "" ? undefined : chosen)}
        />
      );
    }
    case "number":
      return (
        <TextField
          {...common}
          inputMode="numeric"
          placeholder={placeholder}
          value={text}
          onValue={(typed) => onValue(numberOf(typed))}
        />
      );
    case "color":
      return (
        <div class="blocks-color">
          <TextField
            {...common}
            placeholder={placeholder}
            value={text}
            onValue={(typed) => onValue(typed === "" ? undefined : typed)}
          />
          <input
            type="color"
            aria-label={texts.pick(label)}
            value={HEX.test(text) ? text : HEX.test(placeholder ?? "") ? placeholder : "#ffffff"}
            disabled={disabled}
            onInput={(event) => onValue(event.currentTarget.value)}
          />
        </div>
      );
    case "variable":
      return (
        <TextField
          {...common}
          list={names}
          value={text}
          onValue={(typed) => onValue(typed === "" ? undefined : typed)}
        />
      );
    case "area":
      return <TextArea {...common} rows={3} value={text} onValue={onValue} />;
    default:
      return <TextField {...common} placeholder={placeholder} value={text} onValue={onValue} />;
  }
}

const HEX = /^#[\da-f]{6}$/i;

/** A number as one; what is none stays as it was typed, and the server says what is wrong with it. */
function numberOf(typed: string): unknown {
  if (typed.trim() === "") {
    return undefined;
  }
  const number = Number(typed);
  return Number.isFinite(number) ? number : typed;
}
