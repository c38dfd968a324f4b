import { KeyValues } from "../../../ui/key-values.tsx";
import { Time } from "../../../ui/time.tsx";
import { contextPath } from "../../parts/person.ts";
import { RunStatus } from "../../parts/run-status.tsx";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/run.ts";
import type { Connection } from "./loading.ts";
import { personOf, type RunData, versionOf } from "./model.ts";

/** What has become of the run, and what it waits for. */
export function Lead({ data, connection }: { data: RunData; connection: Connection }) {
  const { event, row } = data;
  return (
    <section class="row" aria-label={texts.status} aria-live="polite">
      {row && <RunStatus status={row.status} />}
      {row?.waitingFor && (
        <span>
          {texts.waiting[row.waitingFor]}
          {row.waitingUntil && (
            <>
              {" "}
              {texts.waitsUntil} <Time at={row.waitingUntil} />.
            </>
          )}
        </span>
      )}
      {!row?.waitingFor && <Time at={event.createdAt} />}
      {connection !== "none" && <span class="small run-live">{texts.connection[connection]}</span>}
    </section>
  );
}

/** The run in facts, with links to what it belongs to. */
export function Facts({ data }: { data: RunData }) {
  const address = useAddress();
  const { event, row } = data;
  const workflowId = event.template.triggers[0]?.identifier ?? "";
  const transaction = encodeURIComponent(event.transactionId);
  const into = event._digestedNotificationId;
  return (
    <section class="panel run-facts" aria-label={texts.facts}>
      <KeyValues
        values={[
          [
            texts.workflow,
            <a key="workflow" href={address(`/workflows/${encodeURIComponent(workflowId)}`)}>
              <bdi>{event.template.name}</bdi>
            </a>,
          ],
          [texts.version, versionOf(data.decisions)],
          [
            texts.person,
            <a key="person" href={address(`/subscribers/${encodeURIComponent(event.subscriber.subscriberId)}`)}>
              <bdi>{personOf(event)}</bdi>
            </a>,
          ],
          [
            texts.transaction,
            <span key="transaction">
              <code>{event.transactionId}</code>
              <br />
              <a href={address(`/activity?transactionId=${transaction}`)}>{texts.allRuns}</a>
            </span>,
          ],
          [texts.topics, event.topics.length > 0 ? <Topics data={data} /> : null],
          [texts.contexts, event.contextKeys.length > 0 ? <Contexts data={data} /> : null],
          [
            texts.mergedInto,
            into && (
              <a key="merged" href={address(`/activity/${into}`)}>
                {texts.mergedIntoLink}
              </a>
            ),
          ],
          [texts.critical, event.critical ? texts.isCritical : null],
          [texts.started, <Time key="started" at={event.createdAt} />],
          [texts.changed, row && <Time key="changed" at={row.updatedAt} />],
          [texts.id, <code key="id">{event._id}</code>],
        ]}
      />
    </section>
  );
}

function Contexts({ data }: { data: RunData }) {
  const address = useAddress();
  return (
    <span class="row">
      {data.event.contextKeys.map((key) => {
        const [type = "", ...id] = key.split(":");
        return (
          <a key={key} href={address(contextPath(type, id.join(":")))}>
            <bdi>{key}</bdi>
          </a>
        );
      })}
    </span>
  );
}

function Topics({ data }: { data: RunData }) {
  const address = useAddress();
  return (
    <span class="row">
      {data.event.topics.map((topic) => (
        <a key={topic.topicKey} href={address(`/topics/${encodeURIComponent(topic.topicKey)}`)}>
          <bdi>{topic.topicKey}</bdi>
        </a>
      ))}
    </span>
  );
}
