import { useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { Status } from "../../../ui/status.tsx";
import { actionsColumn, type Column, Cut, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { useCan } from "../../session.ts";
import { connectionTexts as texts } from "../../texts/subscriber.ts";

type Connection = components["schemas"]["ChannelConnection"];
type Endpoint = components["schemas"]["ChannelEndpoint"];

const MAX_SHOWN = 100;

/** The workspaces that a person connected, and their addresses there. */
export function Connections({ subscriberId }: { subscriberId: string }) {
  const loaded = useLoaded(`connections ${subscriberId}`, async (signal) => {
    const params = { query: { subscriberId, limit: MAX_SHOWN } };
    const [connections, endpoints] = await Promise.all([
      api.GET("/v1/channel-connections", { params, signal }),
      api.GET("/v1/channel-endpoints", { params, signal }),
    ]);
    return { connections: dataOf(connections).data, endpoints: dataOf(endpoints).data };
  });
  return (
    <section class="stack" aria-labelledby="channels-connections">
      <h2 id="channels-connections">{texts.title}</h2>
      <p class="quiet">{texts.hint}</p>
      {loaded.error !== undefined && <Problem error={loaded.error} onRetry={loaded.reload} />}
      {!loaded.data && loaded.error === undefined && <Loading />}
      {loaded.data && <Lists {...loaded.data} onChanged={() => void loaded.reload()} />}
    </section>
  );
}

type ListsProps = { connections: readonly Connection[]; endpoints: readonly Endpoint[]; onChanged: () => void };
type Removal = { kind: "connection" | "endpoint"; identifier: string };

function Lists({ connections, endpoints, onChanged }: ListsProps) {
  const canWrite = useCan("subscribers:write");
  const [removal, setRemoval] = useState<Removal | null>(null);
  const removeOf = (kind: Removal["kind"]) => (row: { identifier: string }) => (
    <Button
      kind="quiet"
      aria-label={texts.removeNamed(row.identifier)}
      onClick={() => setRemoval({ kind, identifier: row.identifier })}
    >
      {texts.remove}
    </Button>
  );
  const connectionColumns: Column<Connection>[] = [
    { name: "workspace", title: texts.workspace, show: (row) => <bdi>{row.workspace.name ?? row.workspace.id}</bdi> },
    { name: "integration", title: texts.integration, show: (row) => <code>{row.integrationIdentifier}</code> },
    { name: "context", title: texts.context, show: (row) => row.contextKeys.join(", ") || texts.noContext },
    { name: "created", title: texts.created, show: (row) => <Time at={row.createdAt} /> },
    { name: "state", title: texts.state, show: (row) => <State {...row} /> },
    ...actionsColumn<Connection>(canWrite && removeOf("connection")),
  ];
  const endpointColumns: Column<Endpoint>[] = [
    { name: "type", title: texts.type, show: (row) => texts.types[row.type] },
    { name: "address", title: texts.address, show: (row) => <Cut text={addressOf(row)} isCode /> },
    { name: "integration", title: texts.integration, show: (row) => <code>{row.integrationIdentifier}</code> },
    { name: "context", title: texts.context, show: (row) => row.contextKeys.join(", ") || texts.noContext },
    ...actionsColumn<Endpoint>(canWrite && removeOf("endpoint")),
  ];
  const rowKey = (row: { identifier: string }) => row.identifier;
  return (
    <>
      {connections.length + endpoints.length === 0 && <p class="quiet">{texts.none}</p>}
      {connections.length > 0 && (
        <Table label={texts.connections} columns={connectionColumns} rows={connections} rowKey={rowKey} />
      )}
      {endpoints.length > 0 && (
        <Table label={texts.endpoints} columns={endpointColumns} rows={endpoints} rowKey={rowKey} />
      )}
      {removal && <Remove {...removal} onRemoved={onChanged} onClose={() => setRemoval(null)} />}
    </>
  );
}

/** Whether messages can be sent with a connection, and what to do if not. */
function State({ auth, trouble }: Connection) {
  if (trouble) {
    return (
      <>
        <Status tone={trouble.needsConsent ? "bad" : "warn"}>
          {trouble.needsConsent ? texts.needsConsent : texts.notRenewed}
        </Status>{" "}
        <Time at={trouble.at} />
        <br />
        <small style={{ overflowWrap: "anywhere" }}>{trouble.message}</small>
      </>
    );
  }
  if (auth.refreshToken !== undefined) return <Status tone="good">{texts.isRenewed}</Status>;
  if (auth.expiresAt === undefined) return <Status tone="good">{texts.works}</Status>;
  const hasEnded = Date.parse(auth.expiresAt) <= Date.now();
  return (
    <>
      <Status tone={hasEnded ? "bad" : "wait"}>{hasEnded ? texts.ended : texts.ends}</Status>{" "}
      <Time at={auth.expiresAt} />
    </>
  );
}

type RemoveProps = Removal & { onRemoved: () => void; onClose: () => void };

function Remove({ kind, identifier, onRemoved, onClose }: RemoveProps) {
  async function remove() {
    if (kind === "connection") {
      const params = { path: { connectionIdentifier: identifier } };
      await api.DELETE("/v1/channel-connections/{connectionIdentifier}", { params });
    } else {
      const params = { path: { endpointIdentifier: identifier } };
      await api.DELETE("/v1/channel-endpoints/{endpointIdentifier}", { params });
    }
    notify(texts.removed);
    onRemoved();
  }
  return (
    <Confirm
      title={texts.removeNamed(identifier)}
      action={texts.remove}
      isDangerous
      onConfirm={remove}
      onClose={onClose}
    >
      <p>{kind === "connection" ? texts.removeConnection : texts.removeEndpoint}</p>
    </Confirm>
  );
}

/** The members of an address; secrets come masked. */
function addressOf({ endpoint }: Endpoint): string {
  return Object.entries(endpoint)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}
