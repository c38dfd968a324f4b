import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import type { components } from "../../../api/schema.d.ts";
import { Button } from "../../../ui/button.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Status } from "../../../ui/status.tsx";
import { texts } from "../../texts/webhooks.ts";

/** Sends a test event at once, and shows what the endpoint answered. */
export function TestEvent({ endpointId, onSent }: { endpointId: string; onSent: () => void }) {
  const [delivery, setDelivery] = useState<components["schemas"]["Delivery"] | null>(null);
  const testing = useAction(async () => {
    const params = { path: { endpointId } };
    setDelivery(dataOf(await api.POST("/v1/webhooks/endpoints/{endpointId}/test", { params })));
    onSent();
  });
  const isGood = delivery?.status === "delivered";
  return (
    <div class="stack">
      <div class="row">
        <Button onClick={() => testing.run()} busy={testing.isBusy}>
          {texts.test}
        </Button>
        <span role="status">
          {delivery && (
            <Status tone={isGood ? "good" : "bad"}>
              {isGood ? texts.testGood(delivery.responseStatus ?? 0) : texts.testBad}
            </Status>
          )}
        </span>
      </div>
      {delivery && !isGood && (
        <p>
          {delivery.responseStatus} {delivery.errorText}
        </p>
      )}
      {testing.error !== null && <Problem error={testing.error} />}
    </div>
  );
}
