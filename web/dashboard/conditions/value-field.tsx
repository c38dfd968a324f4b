import { useState } from "preact/hooks";
import { SelectField, TextField } from "../../ui/field.tsx";
import { texts } from "../texts/conditions.ts";
import { ONLINE_UNITS } from "./filter-model.ts";
import { isSpan, type Rule, type RuleValue, SPAN_UNITS, textOfValue, type ValueKind } from "./model.ts";

type ValueFieldProps = {
  rule: Rule;
  kind: ValueKind;
  /** The type of the field that is compared. */
  type: string;
  onValue: (value: RuleValue) => void;
};

/** What a rule compares with, by its operator and the type of the field. */
export function ValueField({ rule, kind, type, onValue }: ValueFieldProps) {
  const { value } = rule;
  if (kind === "none") {
    return null;
  }
  if (kind === "span" && isSpan(value)) {
    const units = rule.subject === "isOnlineInLast" ? ONLINE_UNITS : SPAN_UNITS;
    return (
      <div class="conditions-pair">
        <DraftField label={texts.amount} value={value.amount} onValue={(amount) => onValue({ ...value, amount })} />
        <SelectField
          label={texts.unit}
          value={value.unit}
          options={units.map((unit) => ({ value: unit, label: texts.units[unit] ?? unit }))}
          onValue={(unit) => onValue({ ...value, unit })}
        />
      </div>
    );
  }
  if (kind === "range" && Array.isArray(value)) {
    const [low, high] = value as [string, string];
    return (
      <div class="conditions-pair">
        <DraftField label={texts.low} value={low} onValue={(text) => onValue([text, high])} />
        <DraftField label={texts.high} value={high} onValue={(text) => onValue([low, text])} />
      </div>
    );
  }
  const text = textOfValue(value);
  if (type === "boolean" && kind === "text" && ["", "true", "false"].includes(text)) {
    const options = ["", "true", "false"].filter((one) => one !== "" || text === "");
    return (
      <SelectField
        label={texts.value}
        value={text}
        options={options.map((one) => ({ value: one, label: one }))}
        onValue={onValue}
      />
    );
  }
  return <DraftField label={kind === "list" ? texts.list : texts.value} value={text} onValue={onValue} />;
}

type DraftFieldProps = { label: string; value: string; onValue: (value: string) => void };

/** A field that keeps what is typed until it is left: a list with a comma at its end is stored without it. */
function DraftField({ label, value, onValue }: DraftFieldProps) {
  const [draft, setDraft] = useState<string | null>(null);
  return (
    <TextField
      label={label}
      placeholder={label}
      value={draft ?? value}
      onValue={(text) => {
        setDraft(text);
        onValue(text);
      }}
      onBlur={() => setDraft(null)}
    />
  );
}
