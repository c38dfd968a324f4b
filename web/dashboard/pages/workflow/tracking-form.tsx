import { texts } from "../../texts/editor.ts";
import { ChoiceField } from "./choice-field.tsx";
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
          <ChoiceField
            key={name}
            label={texts.trackingNames[name]}
            choices={texts.trackingChoices}
            value={tracking[name]}
            onValue={(value) => onTracking({ ...tracking, [name]: value })}
            disabled={disabled}
          />
        ))}
      </div>
    </>
  );
}
