import { api, dataOf } from "../../../../api/client.ts";
import { useLoaded } from "../../../../api/loaded.ts";
import { Problem } from "../../../../ui/problem.tsx";
import { Loading } from "../../../../ui/states.tsx";
import { Status } from "../../../../ui/status.tsx";
import { Time } from "../../../../ui/time.tsx";
import { CallChart } from "../../../parts/calls/call-chart.tsx";
import { CallFigures } from "../../../parts/calls/figures.tsx";
import { RangeFields, useRange } from "../../../parts/calls/range-fields.tsx";
import { texts } from "../../../texts/integration-health.ts";
import type { PartProps } from "../part.ts";
import { ErrorList } from "./error-list.tsx";
import { describeHealth, describeRate, type Health } from "./model.ts";

/** Whether the integration works, and how it did over a time. */
export function HealthPart({ integration }: PartProps) {
  const { span } = useRange("24h");
  const { after, before, bucket } = span;
  const integrationId = integration._id;
  const found = useLoaded(`health ${integrationId} ${after} ${before} ${integration.updatedAt}`, async (signal) => {
    const path = { integrationId };
    const [health, usage] = await Promise.all([
      api.GET("/v1/integrations/{integrationId}/health", { params: { path, query: { after, before } }, signal }),
      api.GET("/v1/usage", { params: { query: { after, before, bucket, integrationId } }, signal }),
    ]);
    return { health: dataOf(health), usage: dataOf(usage), span };
  });
  if (found.error) {
    return <Problem error={found.error} onRetry={found.reload} />;
  }
  if (!found.data) {
    return <Loading lines={8} />;
  }
  const { health, usage } = found.data;
  const { averageMilliseconds: average, slowestMilliseconds: slowest, sent, failed } = health.counts;
  const total = { sent, failed, ...(average !== undefined && { average }), ...(slowest !== undefined && { slowest }) };
  return (
    <>
      <StatePanel health={health} />
      <section class="panel stack" aria-label={texts.calls}>
        <div class="row spread">
          <h2>{texts.calls}</h2>
          <div class="toolbar">
            <RangeFields first="24h" />
          </div>
        </div>
        {sent + failed === 0 ? (
          <p class="quiet">{texts.unused}</p>
        ) : (
          <>
            <CallFigures total={total} />
            <CallChart label={texts.calls} items={usage.data} span={found.data.span} />
          </>
        )}
      </section>
      <ErrorList errors={health.lastErrors} />
    </>
  );
}

function StatePanel({ health }: { health: Health }) {
  const { tone, title, text } = describeHealth(health);
  const rate = describeRate(health.rate);
  const { openUntil } = health.circuit;
  return (
    <section class="panel stack" aria-label={texts.state}>
      <div class="row">
        <Status tone={tone}>{title}</Status>
        <span>{text}</span>
        {health.circuit.state === "open" && openUntil && (
          <span>
            {texts.until} <Time at={openUntil} />.
          </span>
        )}
      </div>
      {rate && <p class="quiet">{rate}</p>}
    </section>
  );
}
