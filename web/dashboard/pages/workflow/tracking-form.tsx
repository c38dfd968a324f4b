import { SelectField } from "../../../ui/field.tsx";
import { texts } from "../../texts/editor.ts";
import type { Draft } from "./model.ts";

type Tracking = Draft["tracking"];
type TrackingFormProps = { tracking: Tracking; onTracking: (tracking: Tracking) => void; disabled: boolean };

/** What the workflow decides about tracking, instead of its environment. */
export function TrackingForm({ tracking, onTracking, disabled }: TrackingFormProps) {
  return (
    <>
      <p class="field-hint">{texts.trackingHint}</p>
      <div class="document-pair">
        {(["opens", "clicks"] as const).map((name) => (
          <SelectField
            key={name}
            label={texts.trackingNames[name]}
            value={textOf(tracking[name])}
            options={Object.entries(texts.trackingChoices).map(([value, label]) => ({ value, label }))}
            onValue={(value) => onTracking({ ...tracking, [name]: value === "" ? null : value === "on" })}
            disabled={disabled}
          />
        ))}
      </div>
    </>
  );
}

function textOf(value: boolean | null): string {
  return value === null ? "" : value ? "on" : "off";
}
