import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { usePages } from "../../../api/pages.ts";
import type { components } from "../../../api/schema.d.ts";
import { useUrlState } from "../../../api/url-state.ts";
import { Button } from "../../../ui/button.tsx";
import { optionsOf, SelectField } from "../../../ui/field.tsx";
import { More } from "../../../ui/more.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { texts } from "../../texts/webhooks.ts";
import { DeliveryEntry } from "./delivery-entry.tsx";
import { ReplaySince } from "./replay-since.tsx";

type Delivery = components["schemas"]["Delivery"];
type DeliveryStatus = components["schemas"]["DeliveryStatus"];

/** What was sent to an endpoint, with every attempt. */
export function Deliveries({ endpointId, canWrite }: { endpointId: string; canWrite: boolean }) {
  const url = useUrlState();
  const status = url.get("status") as DeliveryStatus | "";
  const deliveries = usePages(`${endpointId} ${status}`, async (next, signal) => {
    const query = { limit: 50, ...(status && { status }), ...(next !== null && { after: next }) };
    const params = { path: { endpointId }, query };
    const page = dataOf(await api.GET("/v1/webhooks/endpoints/{endpointId}/deliveries", { params, signal }));
    return { rows: page.data, next: page.next };
  });
  const replaying = useAction(async (delivery: Delivery) => {
    const params = { path: { endpointId, deliveryId: delivery._id } };
    await api.POST("/v1/webhooks/endpoints/{endpointId}/deliveries/{deliveryId}/replay", { params });
    notify(texts.replayed);
    deliveries.reload();
  });
  const statuses = optionsOf(texts.deliveryStatus);

  return (
    <section class="stack">
      <h2>{texts.deliveries}</h2>
      <div class="toolbar">
        <SelectField
          label={texts.status}
          value={status}
          options={[{ value: "", label: texts.anyStatus }, ...statuses]}
          onValue={(value) => url.set({ status: value })}
        />
        <Button onClick={deliveries.reload}>{texts.refresh}</Button>
        {canWrite && <ReplaySince endpointId={endpointId} onReplayed={deliveries.reload} />}
      </div>
      {replaying.error !== null && <Problem error={replaying.error} />}
      {deliveries.isFirstLoading && <Loading />}
      {!deliveries.isLoading && deliveries.error === null && deliveries.rows.length === 0 && (
        <Empty title={texts.noDeliveries}>
          <p class="quiet">{texts.noDeliveriesHint}</p>
        </Empty>
      )}
      <ul class="entries" aria-label={texts.deliveries}>
        {deliveries.rows.map((one) => (
          <DeliveryEntry key={one._id} delivery={one} {...(canWrite && { onReplay: () => replaying.run(one) })} />
        ))}
      </ul>
      <More pages={deliveries} />
    </section>
  );
}
