import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { Json } from "../../../ui/json.tsx";
import { Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/run.ts";
import { type DigestEvent, digestEventsOf, type Job, type RunEvent, type RunRow } from "./model.ts";

/** So many transactions can be asked for at once. */
const SHOWN = 50;

/** The events that a digest has, and the runs that they came from. */
export function Digest({ job, event }: { job: Job; event: RunEvent }) {
  if (job.status === "merged") {
    return <MergedInto event={event} />;
  }
  const events = digestEventsOf(job);
  return events.length > 0 ? (
    <ClosedDigest events={events} total={Number(job.digest?.eventCount ?? events.length)} event={event} />
  ) : (
    <OpenDigest event={event} version={job.updatedAt} />
  );
}

function MergedInto({ event }: { event: RunEvent }) {
  const address = useAddress();
  return event._digestedNotificationId ? (
    <p>
      {texts.mergedInto} <a href={address(`/activity/${event._digestedNotificationId}`)}>{texts.mergedIntoLink}</a>
    </p>
  ) : null;
}

function ClosedDigest({ events, total, event }: { events: readonly DigestEvent[]; total: number; event: RunEvent }) {
  const shown = events.slice(0, SHOWN);
  const transactions = shown.flatMap((one) => one.transactionId ?? []);
  const runs = useRuns(event, { transactionId: transactions }, transactions.join());
  const runOf = (one: DigestEvent) => runs.find((row) => row.transactionId === one.transactionId);
  const columns = [
    { name: "time", title: texts.eventTime, show: (one: DigestEvent) => <Time at={one.time} /> },
    {
      name: "payload",
      title: texts.eventPayload,
      show: (one: DigestEvent) => <Json label={texts.eventPayload} value={one.payload} />,
    },
    { name: "run", title: texts.eventRun, show: (one: DigestEvent) => <RunLink row={runOf(one)} from={event} /> },
  ];
  return (
    <details class="run-events">
      <summary>{texts.events(total)}</summary>
      {total > shown.length && <p class="small quiet">{texts.eventsShown(shown.length)}</p>}
      <Table label={texts.eventList} columns={columns} rows={shown} rowKey={(one) => one.id} />
    </details>
  );
}

/** Events are stored with the step when it closes; before that, the runs are known that joined it. */
function OpenDigest({ event, version }: { event: RunEvent; version: string }) {
  const workflowId = event.template.triggers[0]?.identifier ?? "";
  const merged = useRuns(event, { workflowId: [workflowId], status: ["merged"] }, version).filter(
    (row) => row.mergedInto === event._id,
  );
  if (merged.length === 0) {
    return null;
  }
  return (
    <div>
      <p>{texts.joined(merged.length)}</p>
      <ul class="run-joined">
        {merged.map((row) => (
          <li key={row._id}>
            <RunLink row={row} from={event} /> <Time at={row.createdAt} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function RunLink({ row, from }: { row: RunRow | undefined; from: RunEvent }) {
  const address = useAddress();
  if (row === undefined) {
    return null;
  }
  return row._id === from._id ? (
    <span class="quiet">{texts.thisRun}</span>
  ) : (
    <a href={address(`/activity/${row._id}`)} title={row._id}>
      {texts.openRun}
    </a>
  );
}

type RunFilter = { transactionId: string[] } | { workflowId: string[]; status: ["merged"] };

function useRuns(event: RunEvent, filter: RunFilter, version: string): readonly RunRow[] {
  const subscriberId = [event.subscriber.subscriberId];
  const loaded = useLoaded(`digest ${event._id} ${version}`, async (signal) =>
    dataOf(await api.GET("/v1/runs", { params: { query: { subscriberId, ...filter } }, signal })),
  );
  return loaded.data?.data ?? [];
}
