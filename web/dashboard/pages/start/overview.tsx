import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { Bars } from "../../../ui/bars.tsx";
import { momentText, numberText } from "../../../ui/formats.ts";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { ToneMark } from "../../../ui/status.tsx";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/start.ts";
import { Attention } from "./attention.tsx";
import { barsOf, type Outcome, totalsOf } from "./model.ts";

const words = texts.overview;

/** What happened since yesterday, and what somebody has to look at. */
export function Overview() {
  return (
    <div class="start-overview">
      <Runs />
      <Attention />
    </div>
  );
}

function Runs() {
  const address = useAddress();
  const counts = useLoaded("counts", async (signal) =>
    dataOf(await api.GET("/v1/runs/counts", { params: { query: { interval: "1h" } }, signal })),
  );
  return (
    <section class="panel stack" aria-labelledby="start-runs">
      <div class="row spread">
        <h2 id="start-runs">{words.runs}</h2>
        <a href={address("/activity")}>{words.toActivity}</a>
      </div>
      {counts.error !== undefined && <Problem error={counts.error} onRetry={counts.reload} />}
      {!counts.data && !counts.error && <Loading lines={4} />}
      {counts.data && <Counts counts={counts.data} />}
    </section>
  );
}

function Counts({ counts }: { counts: components["schemas"]["RunCounts"] }) {
  const totals = totalsOf(counts.buckets);
  if (totals.length === 0) {
    return <p class="quiet">{words.none}</p>;
  }
  return (
    <>
      <Bars label={words.runs} bars={barsOf(counts.buckets, (at) => momentText(at, "weekdayAndMinutes"))} />
      <ul class="start-totals">
        {totals.map(({ outcome, count }) => (
          <li key={outcome.name}>
            <Total outcome={outcome} count={count} />
          </li>
        ))}
      </ul>
      {counts.estimated && <p class="small quiet">{words.estimated}</p>}
    </>
  );
}

function Total({ outcome, count }: { outcome: Outcome; count: number }) {
  const address = useAddress();
  const query = outcome.statuses.map((status) => `status=${status}`).join("&");
  return (
    <a class="start-total" href={address(`/activity?${query}`)}>
      <ToneMark tone={outcome.tone} />
      <strong>{numberText(count)}</strong>
      <span class="quiet">{words.outcomes[outcome.name]}</span>
    </a>
  );
}
