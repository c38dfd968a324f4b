import { useEffect, useRef, useState } from "preact/hooks";
import { useKept } from "../../../api/entries.ts";
import { useUrlState } from "../../../api/url-state.ts";
import { Page } from "../../../ui/page.tsx";
import { texts } from "../../texts/activity.ts";
import { FirstRun } from "./empty-states.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { NO_FILTERS, readFilters } from "./filters.ts";
import { Histogram } from "./histogram.tsx";
import { readRange } from "./range.ts";
import { type Happenings, NO_HAPPENINGS, RunList } from "./run-list.tsx";
import { ViewTabs } from "./view-tabs.tsx";

/** All runs of the environment as they happen. Only the list is drawn again when a run appears. */
export default function ActivityPage() {
  const url = useUrlState();
  const range = readRange(url.get);
  const filters = readFilters(url.getAll);
  const [isPaused, setPaused] = useKept("list is paused", false);
  const [isUnused, setUnused] = useState(false);
  const happenings = useRef<Happenings>(NO_HAPPENINGS);

  // A run is shown at once when it is chosen.
  useEffect(() => void import("../run/page.tsx").catch(() => {}), []);

  // The range is written out, so that an address with nothing in it can open the default view.
  const change = (values: Record<string, string | readonly string[]>, options?: { push?: boolean }) =>
    url.set({ range: range.preset, ...values }, options);
  const changeRange = (values: Record<string, string>) => change(values, { push: true });
  const clear = () => change(NO_FILTERS);

  return (
    <Page title={texts.title}>
      {!isUnused && (
        <>
          <ViewTabs />
          <FilterBar filters={filters} range={range} onFilters={change} onRange={changeRange} onClear={clear} />
          <Histogram
            filters={filters}
            range={range}
            isPaused={isPaused}
            happenings={happenings}
            onStatuses={(status) => change({ status })}
            onZoom={changeRange}
          />
        </>
      )}
      <RunList
        filters={filters}
        range={range}
        isPaused={isPaused}
        onPause={setPaused}
        happenings={happenings}
        onUnused={setUnused}
        onRange={changeRange}
        onClear={clear}
      />
      {isUnused && <FirstRun />}
    </Page>
  );
}
