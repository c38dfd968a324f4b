import type { RefObject } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { useKept } from "../../../api/entries.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { Button } from "../../../ui/button.tsx";
import { useKey } from "../../../ui/keys.ts";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { Time } from "../../../ui/time.tsx";
import { texts } from "../../texts/activity.ts";
import { NothingFound } from "./empty-states.tsx";
import { countFilters, type Filters } from "./filters.ts";
import { LiveBar } from "./live-bar.tsx";
import type { Tail } from "./model.ts";
import type { Range } from "./range.ts";
import { RunTable } from "./run-table.tsx";
import { type LiveList, useFeed } from "./use-feed.ts";

/** What the list knows of the stream, for those who look now and then. */
export type Happenings = { countEvents: () => number; refresh: () => void };

export const NO_HAPPENINGS: Happenings = { countEvents: () => 0, refresh: () => {} };

type RunListProps = {
  filters: Filters;
  range: Range;
  isPaused: boolean;
  onPause: (isPaused: boolean) => void;
  happenings: RefObject<Happenings>;
  /** Whether there has never been a run. */
  onUnused: (isUnused: boolean) => void;
  onRange: (change: { range?: string; after?: string; before?: string }) => void;
  onClear: () => void;
};

/** The runs, and what the list does now. */
export function RunList(props: RunListProps) {
  const { filters, range, isPaused, onPause, onRange, happenings } = props;
  const [hasFocus, setFocus] = useState(false);
  const { top, isScrolled } = useIsScrolled();
  const isHeld = isPaused || hasFocus || isScrolled;
  const list = useFeed(filters, range, isHeld);
  happenings.current = list;
  useKey("p", () => onPause(!isPaused));

  const { tail } = list;
  const isEmpty = tail !== null && tail.rows.length === 0 && !list.isLoading;
  const latest = useLatest(isEmpty, props.onUnused);
  function showNew() {
    onPause(false);
    setFocus(false);
    scrollTo({ top: 0 });
  }
  return (
    <div class="activity-list">
      <div ref={top} />
      {tail && (
        <LiveBar
          list={list}
          tail={tail}
          isPaused={isPaused}
          onPause={onPause}
          onShowNew={showNew}
          onGoLive={() => onRange({ after: "", before: "" })}
        />
      )}
      {isEmpty && latest && (
        <NothingFound
          isSearchOver={tail.next === null}
          range={range}
          hasFilters={countFilters(filters) > 0}
          latest={latest}
          onPreset={(preset) => onRange({ range: preset, after: "", before: "" })}
          onClear={props.onClear}
        />
      )}
      {tail && tail.rows.length > 0 && (
        <RunTable rows={tail.rows} isHurried={list.isBusy && !isHeld} onFocusChange={setFocus} />
      )}
      <End list={list} tail={tail} />
    </div>
  );
}

/** When the latest run of the environment began, for those who see none; null if there never was one. */
function useLatest(isEmpty: boolean, onUnused: (isUnused: boolean) => void): string | null | undefined {
  const { data } = useLoaded(`latest ${isEmpty}`, async (signal) => {
    if (!isEmpty) {
      return undefined;
    }
    const page = dataOf(await api.GET("/v1/runs", { params: { query: { limit: 1 } }, signal }));
    return page.data[0]?.createdAt ?? null;
  });
  const isUnused = isEmpty && data === null;
  useEffect(() => onUnused(isUnused), [isUnused]);
  return data;
}

/** The end of the list: more of it, how far the search went, or why it did not come. */
function End({ list, tail }: { list: LiveList; tail: Tail | null }) {
  if (list.error !== null) {
    return <Problem error={list.error} onRetry={tail?.next ? list.loadMore : list.reload} />;
  }
  if (tail === null) {
    return <Loading lines={8} />;
  }
  if (tail.next === null) {
    return tail.rows.length > 0 ? <p class="small quiet">{texts.allShown}</p> : null;
  }
  return (
    <div class="row">
      <Button onClick={list.loadMore} busy={list.isLoading}>
        {tail.searchedUntil ? texts.searchFurther : texts.more}
      </Button>
      {tail.searchedUntil && (
        <p class="quiet">
          {texts.searchedUntil} <Time at={tail.searchedUntil} isClock />.
        </p>
      )}
      <p class="small quiet activity-keys">{texts.keys}</p>
    </div>
  );
}

/** Whether the top of the list is above the window. */
function useIsScrolled() {
  const top = useRef<HTMLDivElement>(null);
  const [isScrolled, setScrolled] = useKept("list is scrolled", false);
  const look = useCallback((entries: IntersectionObserverEntry[]) => {
    const entry = entries.at(-1);
    setScrolled(entry !== undefined && !entry.isIntersecting && entry.boundingClientRect.top < 0);
  }, []);
  useEffect(() => {
    const observer = new IntersectionObserver(look);
    if (top.current) {
      observer.observe(top.current);
    }
    return () => observer.disconnect();
  }, [look]);
  return { top, isScrolled };
}
