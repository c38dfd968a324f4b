import type { RefObject } from "preact";
import { useMemo } from "preact/hooks";
import { Bars } from "../../../ui/bars.tsx";
import { numberText } from "../../../ui/formats.ts";
import { Problem } from "../../../ui/problem.tsx";
import { texts } from "../../texts/activity.ts";
import type { Filters } from "./filters.ts";
import { labelOfBar } from "./labels.ts";
import { countOutcome, isChosen, OUTCOMES, type RunCounts, spanOf, sumOutcomes } from "./outcomes.ts";
import type { Range } from "./range.ts";
import type { Happenings } from "./run-list.tsx";
import { useCounts } from "./use-counts.ts";

type HistogramProps = {
  filters: Filters;
  range: Range;
  isPaused: boolean;
  happenings: RefObject<Happenings>;
  onStatuses: (statuses: Filters["status"]) => void;
  onZoom: (span: { after: string; before: string }) => void;
};

/** How many runs began when, by outcome: choose bars to zoom, or an outcome to see only its runs. */
export function Histogram({ filters, range, isPaused, happenings, onStatuses, onZoom }: HistogramProps) {
  const counts = useCounts(filters, range, isPaused, happenings);
  const { data } = counts;
  const bars = useMemo(() => (data ? makeBars(data) : []), [data]);
  if (counts.error && !data) {
    return <Problem error={counts.error} onRetry={counts.reload} />;
  }
  function zoom(first: number, last: number) {
    const span = data && spanOf(data, first, last);
    if (span) {
      onZoom(span);
    }
  }
  return (
    <section class="panel activity-histogram" aria-label={texts.histogram} aria-busy={!data}>
      <div class="row spread">
        {data && <Legend data={data} statuses={filters.status} onStatuses={onStatuses} />}
        {data && <Total data={data} />}
      </div>
      <Bars label={texts.histogram} bars={bars} height={72} hasScale onSelect={zoom} />
    </section>
  );
}

function Total({ data }: { data: RunCounts }) {
  return (
    <p class="small quiet" title={data.estimated ? texts.estimated : undefined}>
      {data.estimated ? texts.about(data.total) : texts.total(data.total)}
      {data.estimated && <span class="visually-hidden">. {texts.estimated}</span>}
    </p>
  );
}

type LegendProps = {
  data: RunCounts;
  statuses: Filters["status"];
  onStatuses: HistogramProps["onStatuses"];
};

function Legend({ data, statuses, onStatuses }: LegendProps) {
  const sums = sumOutcomes(data);
  return (
    <ul class="activity-legend">
      {OUTCOMES.map((outcome) => {
        const isPressed = isChosen(statuses, outcome.name);
        return (
          <li key={outcome.name}>
            <button
              type="button"
              class="activity-legend-button"
              aria-pressed={isPressed}
              title={texts.showOnly(texts.outcomes[outcome.name])}
              onClick={() => onStatuses(isPressed ? [] : [...outcome.statuses])}
            >
              <span class={`activity-swatch activity-swatch-${outcome.tone}`} aria-hidden="true" />
              {texts.outcomes[outcome.name]} <span class="quiet">{numberText(sums[outcome.name])}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}

function makeBars(data: RunCounts) {
  const now = Date.now();
  return data.buckets.map((bucket) => ({
    at: bucket.at,
    label: labelOfBar(bucket.at, data.interval, now),
    parts: OUTCOMES.map((outcome) => ({
      name: texts.outcomes[outcome.name],
      tone: outcome.tone,
      value: countOutcome(bucket.statuses, outcome.name),
    })),
  }));
}
