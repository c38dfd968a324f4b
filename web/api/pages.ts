/** Lists that are loaded a page at a time. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { currentEntry, findKept, keep } from "./entries.ts";

/** A page of rows, and what to ask for to get the next one. */
export type PageOf<Row> = { rows: readonly Row[]; next: string | null };

export type Pages<Row> = {
  rows: readonly Row[];
  error: unknown;
  /** Nothing has been loaded yet. */
  isFirstLoading: boolean;
  isLoading: boolean;
  hasMore: boolean;
  loadMore: () => void;
  reload: () => void;
};

type Load<Row> = (next: string | null, signal: AbortSignal) => Promise<PageOf<Row>>;

type State<Row> = PageOf<Row> & {
  error: unknown;
  isLoading: boolean;
  isLoaded: boolean;
};

/**
 * Load pages, from the first again whenever `key` changes. Rows stay until others take their place. Those who come back
 * to an entry of the history see all rows that they had loaded, while these are loaded again.
 */
export function usePages<Row>(key: string, load: Load<Row>): Pages<Row> {
  const name = `pages ${key}`;
  const [state, setState] = useState<State<Row>>(() => {
    const before = findKept<PageOf<Row>>(currentEntry().id, name);
    return { ...(before ?? NOTHING), error: null, isLoading: true, isLoaded: before !== undefined };
  });
  const entryId = useRef("");
  const running = useRef<AbortController>(null);
  const latest = useRef(load);
  latest.current = load;

  const fetchRows = useCallback(async (of: string, { rows, next }: PageOf<Row>, count = 0) => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    setState((now) => ({ ...now, error: null, isLoading: true }));
    try {
      const page = await loadAtLeast(latest.current, next, count, controller.signal);
      if (!controller.signal.aborted) {
        const loaded = { rows: [...rows, ...page.rows], next: page.next };
        keep(entryId.current, of, loaded);
        setState({ ...loaded, error: null, isLoading: false, isLoaded: true });
      }
    } catch (error) {
      if (!controller.signal.aborted) {
        setState((now) => ({ ...now, error, isLoading: false }));
      }
    }
  }, []);

  useEffect(() => {
    entryId.current = currentEntry().id;
    const before = findKept<PageOf<Row>>(entryId.current, name);
    if (before) {
      setState((now) => ({ ...now, ...before, isLoaded: true }));
    }
    void fetchRows(name, NOTHING, before?.rows.length);
    return () => running.current?.abort();
  }, [name, fetchRows]);

  return {
    rows: state.rows,
    error: state.error,
    isFirstLoading: state.isLoading && !state.isLoaded,
    isLoading: state.isLoading,
    hasMore: state.next !== null,
    loadMore: () => void fetchRows(name, state),
    reload: () => void fetchRows(name, NOTHING),
  };
}

const NOTHING: PageOf<never> = { rows: [], next: null };

/** One page, or as many as have so many rows. */
async function loadAtLeast<Row>(load: Load<Row>, first: string | null, count: number, signal: AbortSignal) {
  let page = await load(first, signal);
  const rows = [...page.rows];
  while (page.next !== null && rows.length < count && !signal.aborted) {
    page = await load(page.next, signal);
    rows.push(...page.rows);
  }
  return { rows, next: page.next };
}
