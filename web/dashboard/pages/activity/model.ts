/** The list of runs that grows at its head: what the stream sends becomes rows, or waits behind a button. */
import type { components } from "../../../api/schema.d.ts";

export type Run = components["schemas"]["Run"];
export type RunPage = components["schemas"]["RunPage"];
export type Missed = components["schemas"]["RunsMissed"];

/** Rows of one screen, and of one page of the API. */
export const PAGE_SIZE = 100;
/** How many rows the list keeps, however many pages were loaded. */
export const MAX_ROWS = 1000;

export type Tail = {
  /** Newest first. */
  rows: readonly Run[];
  /** New runs that wait until the person wants to see them; newest first, and not more than the list can show. */
  held: readonly Run[];
  heldCount: number;
  limit: number;
  /** The cursor of what is older than the rows; null if there is nothing more. */
  next: string | null;
  /** How far back a search went that stopped before it found a whole page; null if it did not. */
  searchedUntil: string | null;
  /** Changes that the stream did not send, because there were too many. */
  leftOut: number;
  missed: Missed | null;
};

export const EMPTY_TAIL: Tail = {
  rows: [],
  held: [],
  heldCount: 0,
  limit: PAGE_SIZE,
  next: null,
  searchedUntil: null,
  leftOut: 0,
  missed: null,
};

/** A list that begins with a page. */
export function startTail(page: RunPage): Tail {
  return { ...EMPTY_TAIL, rows: page.data, ...endOf(page) };
}

function endOf(page: RunPage): Pick<Tail, "next" | "searchedUntil"> {
  const isSearchOver = page.next === null || page.data.length === PAGE_SIZE;
  return { next: page.next, searchedUntil: isSearchOver ? null : page.searchedUntil };
}

/** Add the next page at the end. */
export function appendPage(tail: Tail, page: RunPage): Tail {
  const known = new Set(tail.rows.map((row) => row._id));
  const rows = [...tail.rows, ...page.data.filter((row) => !known.has(row._id))];
  const limit = Math.max(tail.limit, Math.ceil(rows.length / PAGE_SIZE) * PAGE_SIZE);
  return { ...tail, rows, limit, ...endOf(page) };
}

/**
 * Bring the head of the list up to date: runs which the page should have and does not have no longer match.
 *
 * `newest` was the first row when the page was asked for; the stream may have sent newer ones since.
 */
export function refreshHead(tail: Tail, page: RunPage, newest: string): Tail {
  const fresh = new Set(page.data.map((row) => row._id));
  const first = page.data[0]?._id ?? "";
  const kept = tail.rows.filter(
    ({ _id }) => fresh.has(_id) || (_id > newest && _id > first) || (page.next !== null && _id < page.next),
  );
  const isComplete = tail.rows.length <= page.data.length;
  return addRuns({ ...tail, rows: kept, ...(isComplete && endOf(page)) }, page.data);
}

type Options = {
  /** New runs wait instead of moving the list. */
  isHeld: boolean;
};

/** Apply what the stream sent. Rows that are shown change in place also while new ones are held. */
export function applyRuns(tail: Tail, runs: readonly Run[], { isHeld }: Options): Tail {
  if (runs.length === 0) {
    return tail;
  }
  if (!isHeld) {
    return addRuns(tail, runs);
  }
  const shown = new Set(tail.rows.map((row) => row._id));
  const changed = runs.filter((run) => shown.has(run._id));
  const waiting = new Set(tail.held.map((row) => row._id));
  const fresh = new Set(runs.filter((run) => !shown.has(run._id) && isWithin(tail, run)).map((run) => run._id));
  const added = runs.filter((run) => fresh.has(run._id));
  return {
    ...addRuns(tail, changed),
    held: mergeRows(tail.held, added).slice(0, tail.limit),
    heldCount: tail.heldCount + [...fresh].filter((id) => !waiting.has(id)).length,
  };
}

/** Show the runs that waited. */
export function release(tail: Tail): Tail {
  return tail.held.length === 0 ? tail : addRuns({ ...tail, held: [], heldCount: 0 }, tail.held);
}

function addRuns(tail: Tail, runs: readonly Run[]): Tail {
  const shown = new Set(tail.rows.map((row) => row._id));
  const rows = mergeRows(
    tail.rows,
    runs.filter((run) => shown.has(run._id) || isWithin(tail, run)),
  );
  const limit = Math.min(tail.limit, MAX_ROWS);
  const last = rows[limit - 1];
  return rows.length > limit && last
    ? { ...tail, rows: rows.slice(0, limit), next: last._id, searchedUntil: null }
    : { ...tail, rows };
}

/** Whether a run is newer than what was not loaded yet. */
function isWithin(tail: Tail, run: Run): boolean {
  const last = tail.rows.at(-1);
  return tail.next === null || last === undefined || run._id > last._id;
}

/** Rows with the changed ones in their places; ids begin with the time, so they are the order. */
export function mergeRows(rows: readonly Run[], changed: readonly Run[]): readonly Run[] {
  if (changed.length === 0) {
    return rows;
  }
  const byId = new Map<string, Run>();
  for (const run of changed) {
    const before = byId.get(run._id);
    byId.set(run._id, before && before.updatedAt > run.updatedAt ? before : run);
  }
  const merged = rows.map((row) => {
    const run = byId.get(row._id);
    byId.delete(row._id);
    return run === undefined || run.updatedAt < row.updatedAt || isSame(row, run) ? row : run;
  });
  if (byId.size > 0) {
    merged.push(...byId.values());
    merged.sort((one, other) => (one._id < other._id ? 1 : -1));
  }
  return merged;
}

/** A row that did not change keeps its identity, so that it is not drawn again. */
function isSame(row: Run, run: Run): boolean {
  return row.updatedAt === run.updatedAt && row.status === run.status && JSON.stringify(row) === JSON.stringify(run);
}
