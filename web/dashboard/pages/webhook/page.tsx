import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso/router";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { KeyValues } from "../../../ui/key-values.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { Time } from "../../../ui/time.tsx";
import { useAddress, useCan } from "../../session.ts";
import { texts as shell } from "../../texts/shell.ts";
import { texts } from "../../texts/webhooks.ts";
import { EndpointState } from "../webhooks/endpoint-state.tsx";
import { SecretOnce } from "../webhooks/secret-once.tsx";
import { Deliveries } from "./deliveries.tsx";
import { EditEndpoint } from "./edit-endpoint.tsx";
import { TestEvent } from "./test-event.tsx";

type Open = "edit" | "rotate" | "delete" | { secret: string; previousUntil: string } | null;

export default function WebhookPage() {
  const endpointId = useRoute().params.endpointId ?? "";
  const { route } = useLocation();
  const address = useAddress();
  const canWrite = useCan("webhooks:write");
  const [open, setOpen] = useState<Open>(null);
  const params = { path: { endpointId } };
  const endpoint = useLoaded(`endpoint ${endpointId}`, async (signal) =>
    dataOf(await api.GET("/v1/webhooks/endpoints/{endpointId}", { params, signal })),
  );
  const close = () => setOpen(null);
  const back = { href: address("/webhooks"), label: texts.toList };

  if (endpoint.error !== undefined) {
    return (
      <Page title={shell.pages.webhook} back={back}>
        <Problem error={endpoint.error} onRetry={endpoint.reload} />
      </Page>
    );
  }
  if (!endpoint.data) {
    return (
      <Page title={shell.pages.webhook} back={back}>
        <Loading />
      </Page>
    );
  }
  const one = endpoint.data;
  return (
    <Page
      title={one.url || texts.ofReplies}
      back={back}
      lead={one.description && <bdi>{one.description}</bdi>}
      actions={
        canWrite && (
          <>
            {one.url && <Button onClick={() => setOpen("edit")}>{texts.edit}</Button>}
            <Button onClick={() => setOpen("rotate")}>{texts.rotate}</Button>
            {one.url && (
              <Button kind="danger" onClick={() => setOpen("delete")}>
                {texts.remove}
              </Button>
            )}
          </>
        )
      }
    >
      <section class="panel stack">
        <KeyValues
          values={[
            [texts.state, <EndpointState key="state" endpoint={one} />],
            [texts.disabledReason, one.disabledReason],
            [texts.failingSince, one.failingSince && <Time at={one.failingSince} />],
            [texts.events, one.eventTypes.length === 0 ? texts.allEvents : one.eventTypes.join(", ")],
            [texts.created, <Time key="created" at={one.createdAt} />],
          ]}
        />
        {canWrite && one.url && <TestEvent endpointId={endpointId} onSent={endpoint.reload} />}
      </section>
      <Deliveries endpointId={endpointId} canWrite={canWrite} />
      {open === "edit" && <EditEndpoint endpoint={one} onClose={close} onSaved={endpoint.reload} />}
      {open === "rotate" && (
        <Confirm
          title={texts.rotateTitle}
          action={texts.rotate}
          onClose={() => setOpen((now) => (now === "rotate" ? null : now))}
          onConfirm={async () =>
            setOpen(dataOf(await api.POST("/v1/webhooks/endpoints/{endpointId}/rotate-secret", { params })))
          }
        >
          <p>{texts.rotateHint}</p>
        </Confirm>
      )}
      {open === "delete" && (
        <Confirm
          title={texts.removeTitle}
          action={texts.remove}
          isDangerous
          onClose={close}
          onConfirm={async () => {
            await api.DELETE("/v1/webhooks/endpoints/{endpointId}", { params });
            notify(texts.removed);
            route(address("/webhooks"));
          }}
        >
          <p>{texts.removeHint}</p>
        </Confirm>
      )}
      {typeof open === "object" && open !== null && <SecretOnce {...open} onClose={close} />}
    </Page>
  );
}
