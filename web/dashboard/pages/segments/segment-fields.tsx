import { TextArea, TextField } from "../../../ui/field.tsx";
import { Conditions } from "../../conditions/lazy-conditions.tsx";
import { texts } from "../../texts/segments.ts";
import { type SegmentForm, shownCondition, typedCondition, VARIABLES } from "./model.ts";

type FieldsProps = {
  form: SegmentForm;
  onForm: (form: SegmentForm) => void;
  problems: Record<string, string>;
  disabled?: boolean;
};

/** What the segment is called, and who is in it. */
export function SegmentFields({ form, onForm, problems, disabled = false }: FieldsProps) {
  return (
    <>
      <TextField
        label={texts.name}
        value={form.name}
        onValue={(name) => onForm({ ...form, name })}
        required
        disabled={disabled}
        problem={problems.name}
      />
      <TextArea
        label={texts.description}
        value={form.description}
        onValue={(description) => onForm({ ...form, description })}
        rows={2}
        disabled={disabled}
        problem={problems.description}
      />
      <div>
        <Conditions
          kind="logic"
          label={texts.condition}
          value={shownCondition(form.condition)}
          onValue={(value) => onForm({ ...form, condition: typedCondition(value) })}
          variables={VARIABLES}
          problem={problems.condition}
          disabled={disabled}
        />
        <p class="field-hint">{texts.conditionHint}</p>
      </div>
    </>
  );
}
