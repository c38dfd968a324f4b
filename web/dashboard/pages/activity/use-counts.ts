import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { type Loaded, useLoaded } from "../../../api/loaded.ts";
import { type Filters, parametersOf, queryTextOf } from "./filters.ts";
import type { RunCounts } from "./outcomes.ts";
import { countBoundsOf, endsNow, type Range } from "./range.ts";
import type { Happenings } from "./run-list.tsx";

const PAUSE = 10_000;
/** Counts that take long are asked for less often: the service works for them at most a hundredth of the time. */
const FACTOR = 100;

/** Counts of the runs that are listed, asked for again now and then while runs appear. */
export function useCounts(
  filters: Filters,
  range: Range,
  isPaused: boolean,
  happenings: RefObject<Happenings>,
): Loaded<RunCounts> {
  const took = useRef(0);
  const isLive = !isPaused && endsNow(range, Date.now());
  const hasStatus = filters.status.length > 0;

  const load = async (signal: AbortSignal) => {
    const began = performance.now();
    const query = { ...parametersOf(filters), ...countBoundsOf(range, Date.now()) };
    const found = dataOf(await api.GET("/v1/runs/counts", { params: { query }, signal }));
    took.current = performance.now() - began;
    return found;
  };
  const counts = useLoaded(JSON.stringify([queryTextOf(filters), range]), load, { isKept: true });

  const { data, reload } = counts;
  useEffect(() => {
    if (!isLive || data === undefined) {
      return;
    }
    const seen = happenings.current?.countEvents();
    function look() {
      // The stream sends only what matches: a run that leaves a status makes no event, and is missing from a fresh list.
      if (document.hidden || (!hasStatus && happenings.current?.countEvents() === seen)) {
        return;
      }
      reload();
      if (hasStatus) {
        happenings.current?.refresh();
      }
    }
    const timer = setInterval(look, Math.max(PAUSE, FACTOR * took.current));
    return () => clearInterval(timer);
  }, [data, isLive, hasStatus, reload]);
  return counts;
}
