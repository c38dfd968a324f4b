import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { ButtonLink } from "../../../ui/button.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { Status, type Tone } from "../../../ui/status.tsx";
import { Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { Decisions } from "../../parts/decisions.tsx";
import { subscriberPath } from "../../parts/person.ts";
import { useAddress } from "../../session.ts";
import { texts as runs } from "../../texts/runs.ts";
import { whyTexts as texts } from "../../texts/subscriber.ts";
import { CHANNELS, type Channel } from "./preference-rows.ts";

type Explanation = components["schemas"]["Explanation"];
type Outcome = components["schemas"]["Outcome"];

const TONES: Record<Outcome, Tone> = {
  delivered: "good",
  sent: "good",
  deleted: "warn",
  merged: "good",
  waiting: "wait",
  skipped: "warn",
  failed: "bad",
  canceled: "plain",
  unknown: "plain",
};

type Asked = { workflowId: string; transactionId: string; channel: string };

/** The answer: what came of each channel, and every decision on the way. */
export function Explained({ subscriberId, asked }: { subscriberId: string; asked: Asked }) {
  const address = useAddress();
  const { transactionId, workflowId, channel } = asked;
  const query = {
    subscriberId,
    ...(transactionId ? { transactionId } : { workflowId }),
    ...(channel && { channel: channel as Channel }),
  };
  const loaded = useLoaded(`explain ${JSON.stringify(query)}`, async (signal) =>
    dataOf(await api.GET("/v1/explain", { params: { query }, signal })),
  );
  if (loaded.error) {
    return <Problem error={loaded.error} onRetry={loaded.reload} />;
  }
  if (!loaded.data) {
    return <Loading lines={6} />;
  }
  const { notificationId, decisions, others } = loaded.data;
  return (
    <>
      <section class="stack" aria-labelledby="why-channels">
        <div class="row spread">
          <h3 id="why-channels">{texts.channels}</h3>
          {notificationId ? (
            <ButtonLink href={address(`/activity/${encodeURIComponent(notificationId)}`)}>{texts.toRun}</ButtonLink>
          ) : (
            <span class="quiet">{texts.noRun}</span>
          )}
        </div>
        <ChannelResults explanation={loaded.data} />
      </section>
      <section class="stack" aria-labelledby="why-decisions">
        <h3 id="why-decisions">{texts.decisions}</h3>
        <div class="panel">
          <Decisions decisions={decisions} />
        </div>
      </section>
      {others && others.length > 0 && (
        <section class="stack" aria-labelledby="why-others">
          <h3 id="why-others">{texts.others}</h3>
          <ul class="people-list">
            {others.map((one) => (
              <li key={one.transactionId} class="row">
                <a
                  href={address(
                    `${subscriberPath(subscriberId, "why")}?transaction=${encodeURIComponent(one.transactionId)}`,
                  )}
                >
                  <code>{one.transactionId}</code>
                </a>
                <span class="small quiet">
                  <Time at={one.triggeredAt} />
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

type Result = { channel: Channel; outcome: Outcome; summary: string };

function ChannelResults({ explanation }: { explanation: Explanation }) {
  const results: Result[] = CHANNELS.flatMap((channel) => {
    const found = explanation.channels[channel];
    return found ? [{ channel, ...found }] : [];
  });
  if (results.length === 0) {
    return <p class="quiet">{texts.noChannels}</p>;
  }
  const columns = [
    { name: "channel", title: texts.channel, show: (one: Result) => runs.channels[one.channel] },
    {
      name: "outcome",
      title: texts.outcome,
      show: (one: Result) => <Status tone={TONES[one.outcome]}>{texts.outcomes[one.outcome]}</Status>,
    },
    { name: "reason", title: texts.reason, show: (one: Result) => <bdi>{one.summary}</bdi> },
  ];
  return <Table label={texts.channels} columns={columns} rows={results} rowKey={(one) => one.channel} />;
}
