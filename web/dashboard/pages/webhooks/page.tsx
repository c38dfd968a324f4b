import { useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { curlCommand } from "../../../api/curl.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { Button } from "../../../ui/button.tsx";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { useAddress, useCan } from "../../session.ts";
import { texts } from "../../texts/webhooks.ts";
import { EndpointState } from "./endpoint-state.tsx";
import { NewEndpoint } from "./new-endpoint.tsx";

const EXAMPLE = { url: "https://example.com/clarion", eventTypes: ["message.failed"] };

export default function WebhooksPage() {
  const address = useAddress();
  const canWrite = useCan("webhooks:write");
  const [isAdding, setAdding] = useState(false);
  const endpoints = useLoaded("endpoints", async (signal) =>
    dataOf(await api.GET("/v1/webhooks/endpoints", { signal })),
  );
  const create = (
    <Button kind="primary" onClick={() => setAdding(true)}>
      {texts.create}
    </Button>
  );
  return (
    <Page title={texts.title} lead={texts.lead} actions={canWrite && create}>
      {endpoints.error !== undefined && <Problem error={endpoints.error} onRetry={endpoints.reload} />}
      {!endpoints.data && endpoints.isLoading && <Loading />}
      {endpoints.data?.length === 0 && (
        <Empty
          title={texts.emptyTitle}
          command={curlCommand({ method: "POST", path: "/v1/webhooks/endpoints", body: EXAMPLE })}
        >
          <p class="quiet">{texts.emptyHint}</p>
          {canWrite && create}
        </Empty>
      )}
      {endpoints.data && endpoints.data.length > 0 && (
        <Table
          label={texts.label}
          rows={endpoints.data}
          rowKey={(one) => one._id}
          columns={[
            {
              name: "url",
              title: texts.url,
              show: (one) => (
                <>
                  <a href={address(`/webhooks/${one._id}`)}>{one.url || texts.ofReplies}</a>
                  {one.description && (
                    <div class="small quiet">
                      <bdi>{one.description}</bdi>
                    </div>
                  )}
                </>
              ),
            },
            {
              name: "events",
              title: texts.events,
              show: (one) =>
                one.eventTypes.length === 0 ? (
                  texts.allEvents
                ) : (
                  <span title={one.eventTypes.join(", ")}>{texts.eventCount(one.eventTypes.length)}</span>
                ),
            },
            { name: "state", title: texts.state, show: (one) => <EndpointState endpoint={one} /> },
            { name: "created", title: texts.created, show: (one) => <Time at={one.createdAt} /> },
          ]}
        />
      )}
      {isAdding && <NewEndpoint onClose={() => setAdding(false)} onCreated={endpoints.reload} />}
    </Page>
  );
}
