import type { components } from "../../../api/schema.d.ts";
import { Button } from "../../../ui/button.tsx";
import { durationText } from "../../../ui/formats.ts";
import { Json } from "../../../ui/json.tsx";
import { Status, type Tone } from "../../../ui/status.tsx";
import { Time } from "../../../ui/time.tsx";
import { texts } from "../../texts/webhooks.ts";

type Delivery = components["schemas"]["Delivery"];

const TONES: Record<Delivery["status"], Tone> = { delivered: "good", failed: "bad", queued: "wait" };

/** One delivery, which opens to its attempts and to what is sent. */
export function DeliveryEntry({ delivery, onReplay }: { delivery: Delivery; onReplay?: () => void }) {
  return (
    <li class="entry">
      <span class="small quiet">
        <Time at={delivery.createdAt} />
      </span>
      <details>
        <summary>
          <Status tone={TONES[delivery.status]}>{texts.deliveryStatus[delivery.status]}</Status>{" "}
          <code>{delivery.type}</code> <span class="small quiet">{texts.attemptCount(delivery.attemptLog.length)}</span>
        </summary>
        <div class="stack entry-details">
          {delivery.nextAttemptAt && (
            <p>
              {texts.next}: <Time at={delivery.nextAttemptAt} />
            </p>
          )}
          <ol class="webhook-attempts">
            {delivery.attemptLog.map((attempt) => (
              <li key={attempt.at}>
                <Time at={attempt.at} /> · {durationText(attempt.milliseconds)} ·{" "}
                {attempt.responseStatus ?? texts.noAnswer} {attempt.errorText}
              </li>
            ))}
          </ol>
          <h3>{texts.payload}</h3>
          <Json label={texts.payload} value={delivery.payload} />
          {onReplay && (
            <div class="row">
              <Button onClick={onReplay}>{texts.replay}</Button>
            </div>
          )}
        </div>
      </details>
    </li>
  );
}
