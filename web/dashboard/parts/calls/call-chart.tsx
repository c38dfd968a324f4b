import { type Bar, Bars } from "../../../ui/bars.tsx";
import { momentText } from "../../../ui/formats.ts";
import { texts } from "../../texts/calls.ts";
import { type CallItem, countBuckets } from "./counts.ts";
import type { Span } from "./range.ts";

type CallChartProps = { label: string; items: readonly CallItem[]; span: Span; height?: number };

/** Calls over a time as bars, with what they mean and where they begin and end. */
export function CallChart({ label, items, span, height = 120 }: CallChartProps) {
  const bars = barsOf(items, span);
  const highest = Math.max(0, ...bars.map((bar) => bar.parts.reduce((sum, part) => sum + part.value, 0)));
  return (
    <div class="call-chart">
      <div class="row small quiet" aria-hidden="true">
        <span class="call-chart-key call-chart-sent">{texts.sent}</span>
        <span class="call-chart-key call-chart-failed">{texts.failed}</span>
        <span class="call-chart-most">{texts.most(highest)}</span>
      </div>
      <Bars label={label} bars={bars} height={height} />
      <div class="row spread small quiet" aria-hidden="true">
        <span>{bars[0]?.label}</span>
        <span>{bars.at(-1)?.label}</span>
      </div>
    </div>
  );
}

/** The same bars, small, beside numbers that say it too. */
export function CallTrend({ items, span }: { items: readonly CallItem[]; span: Span }) {
  return (
    <div class="call-trend" aria-hidden="true">
      <Bars label="" bars={barsOf(items, span)} height={28} />
    </div>
  );
}

function barsOf(items: readonly CallItem[], span: Span): Bar[] {
  return countBuckets(items, span).map(({ at, sent, failed }) => ({
    at,
    label: momentText(at, span.bucket === "hour" ? "dayAndMinutes" : "dateOfUtc"),
    parts: [
      { name: texts.sent, tone: "good", value: sent },
      { name: texts.failed, tone: "bad", value: failed },
    ],
  }));
}
