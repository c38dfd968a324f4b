/** Dead letters: how they are grouped, and how a group is redriven or discarded piece by piece. */
import type { components } from "../../../api/schema.d.ts";
import type { Tone } from "../../../ui/status.tsx";

export type DeadLetter = components["schemas"]["DeadLetter"];
export type DeadLetterDetail = components["schemas"]["DeadLetterDetail"];
export type Grouping = components["schemas"]["DeadLetterGrouping"];
export type Selection = components["schemas"]["DeadLetterSelection"];
export type Filter = { reason?: string; providerId?: string; workflowId?: string; channel?: DeadLetter["channel"] };

export const GROUPINGS: readonly Grouping[] = ["reason", "provider", "workflow", "channel"];

export function readGrouping(text: string): Grouping {
  return GROUPINGS.find((one) => one === text) ?? "reason";
}

/** What finds the letters of a group. */
export function filterOf(by: Grouping, value: string): Filter {
  switch (by) {
    case "reason":
      return { reason: value };
    case "provider":
      return { providerId: value };
    case "workflow":
      return { workflowId: value };
    case "channel":
      return { channel: value as DeadLetter["channel"] };
  }
}

export type Sweep = { done: number; remaining: number; isOver: boolean };

type Step = { count: number; hasMore: boolean; remaining: number };

/** How many letters are changed by one request: few enough that a person sees it move. */
export const AT_ONCE = 500;

/**
 * Change letters piece by piece until as many were changed as there were at the beginning.
 *
 * Not until none is left: letters that fail again at once come back, and would be redriven for ever. If more existed
 * than are counted, it goes on until the server has no more, or until it is stopped.
 */
export async function sweep(
  total: { count: number; isCapped: boolean },
  change: (limit: number) => Promise<Step>,
  onProgress: (state: Sweep) => void,
  isStopped: () => boolean,
): Promise<Sweep> {
  let state: Sweep = { done: 0, remaining: total.count, isOver: false };
  onProgress(state);
  let hasMore = true;
  while (hasMore && !isStopped() && (total.isCapped || state.done < total.count)) {
    const limit = total.isCapped ? AT_ONCE : Math.min(AT_ONCE, total.count - state.done);
    const step = await change(limit);
    const done = state.done + step.count;
    const remaining = total.isCapped ? step.remaining : Math.max(total.count - done, 0);
    state = { done, remaining: step.hasMore ? remaining : 0, isOver: false };
    hasMore = step.hasMore && step.count > 0;
    onProgress(state);
  }
  state = { ...state, isOver: true };
  onProgress(state);
  return state;
}

export const DETAIL_TONES: Record<DeadLetterDetail["executionDetails"][number]["status"], Tone> = {
  Success: "good",
  ReadConfirmation: "good",
  Warning: "warn",
  Failed: "bad",
  Queued: "wait",
  Pending: "wait",
};

/** The values of a detail, which are JSON in a text; undefined if there are none. */
export function valuesOf(raw: string | undefined): unknown {
  if (!raw) {
    return undefined;
  }
  try {
    return JSON.parse(raw);
  } catch {
    return raw;
  }
}
