/** The steps of a draft as a tree: where each stands, and what a person does to their order. */
import {
  type Draft,
  type DraftPath,
  type DraftStep,
  MAX_ALL_STEPS,
  MAX_DEPTH,
  MAX_STEPS,
  type Within,
} from "./model.ts";

type Steps = readonly DraftStep[];

/** A place in the steps of the workflow itself, or in those of a path. */
export type Place = { within?: Within | undefined; index: number };
export type Direction = "up" | "down" | "out" | "into";

/** The steps of one path, or of the workflow itself. */
export function childrenOf(steps: Steps, within?: Within): DraftStep[] {
  return steps.filter((step) => isSamePath(step.within, within));
}

export function isSamePath(one: Within | undefined, other: Within | undefined): boolean {
  return one?.branch === other?.branch && one?.path === other?.path;
}

/** A step with all that is within it. */
export function subtreeOf(steps: Steps, key: string): DraftStep[] {
  const inside = new Set([key]);
  return steps.filter((step) => {
    if (step.within && inside.has(step.within.branch)) {
      inside.add(step.key);
    }
    return inside.has(step.key);
  });
}

/** A branch, the steps of each of its paths, what follows; steps of paths that there are not are left out. */
export function inReadingOrder(steps: Steps, within?: Within): DraftStep[] {
  return childrenOf(steps, within).flatMap((step) => [
    step,
    ...(step.paths ?? []).flatMap(({ key }) => inReadingOrder(steps, { branch: step.key, path: key })),
  ]);
}

export function placeOf(steps: Steps, key: string): Place {
  const within = steps.find((step) => step.key === key)?.within;
  return { within, index: childrenOf(steps, within).findIndex((step) => step.key === key) };
}

export function pathAt(steps: Steps, within: Within): DraftPath | undefined {
  return steps.find((step) => step.key === within.branch)?.paths?.find((path) => path.key === within.path);
}

/** The branches around a place, from the innermost, with the path of each that leads there. */
export function listAround(steps: Steps, within: Within | undefined): Within[] {
  const outer = within && steps.find((step) => step.key === within.branch)?.within;
  return within ? [within, ...listAround(steps, outer)] : [];
}

/** The steps that a run may have done before it comes to a step: none of other paths of the same branches. */
export function listEarlier(steps: Steps, key: string): DraftStep[] {
  const at = steps.findIndex((step) => step.key === key);
  const own = new Map(listAround(steps, steps[at]?.within).map(({ branch, path }) => [branch, path]));
  return steps
    .slice(0, Math.max(at, 0))
    .filter((step) => listAround(steps, step.within).every(({ branch, path }) => (own.get(branch) ?? path) === path));
}

/** Why steps cannot be put into a path: it has all that it may have, or the workflow has, or they would be too deep. */
export type Refused = "full" | "many" | "deep";

/** What keeps a step with all that is within it from a path; `isNew` if the workflow does not have it yet. */
export function whyNot(steps: Steps, within: Within | undefined, subtree: Steps, isNew: boolean): Refused | null {
  const [head] = subtree;
  if (head === undefined) {
    return null;
  }
  if (isNew && steps.length + subtree.length > MAX_ALL_STEPS) {
    return "many";
  }
  const others = childrenOf(steps, within).filter((step) => step.key !== head.key);
  if (others.length >= MAX_STEPS) {
    return "full";
  }
  const height = Math.max(...subtree.map((step) => depthIn(subtree, step)));
  return listAround(steps, within).length + height > MAX_DEPTH ? "deep" : null;
}

/** How many paths of a subtree are around the inside of a step; a branch has one more than what it stands beside. */
function depthIn(subtree: Steps, step: DraftStep): number {
  const around = listAround(subtree, step.within).filter(({ branch }) => subtree.some((one) => one.key === branch));
  return around.length + (step.paths ? 1 : 0);
}

/** Put a step with all that is within it at a place. */
export function insertSteps(draft: Draft, place: Place, [head, ...inside]: Steps): Draft {
  if (head === undefined) {
    return draft;
  }
  const next = childrenOf(draft.steps, place.within)[place.index];
  const at = next ? draft.steps.indexOf(next) : draft.steps.length;
  const steps = draft.steps.toSpliced(at, 0, standing(head, place.within), ...inside);
  return { ...draft, steps: inReadingOrder(steps) };
}

function standing(step: DraftStep, within: Within | undefined): DraftStep {
  const { within: _, ...rest } = step;
  return within ? { ...rest, within } : rest;
}

/** Move a step, with what is within it, to the place that it is to have then; nothing changes if it cannot be there. */
export function moveStep(draft: Draft, key: string, to: Place): Draft {
  const moved = subtreeOf(draft.steps, key);
  const isInside = moved.some((step) => step.key === to.within?.branch);
  const left = removeStep(draft, key);
  const count = childrenOf(left.steps, to.within).length;
  const now = placeOf(draft.steps, key);
  const isThere = isSamePath(now.within, to.within) && now.index === to.index;
  if (moved.length === 0 || isInside || isThere || to.index < 0 || to.index > count) {
    return draft;
  }
  return whyNot(draft.steps, to.within, moved, false) ? draft : insertSteps(left, to, moved);
}

export function removeStep(draft: Draft, key: string): Draft {
  const removed = new Set(subtreeOf(draft.steps, key));
  return { ...draft, steps: draft.steps.filter((step) => !removed.has(step)) };
}

/** The next place in a direction: up and down lead on into the next path of the branch, and out of it at its ends. */
export function placeTowards(steps: Steps, key: string, direction: Direction): Place | null {
  const { within, index } = placeOf(steps, key);
  const siblings = childrenOf(steps, within);
  if (direction === "into") {
    return placeInto(steps, siblings[index - 1], siblings[index + 1]);
  }
  if (direction === "up" && index > 0) {
    return { within, index: index - 1 };
  }
  if (direction === "down" && index < siblings.length - 1) {
    return { within, index: index + 1 };
  }
  return within ? placeOutOf(steps, within, direction) : null;
}

function placeOutOf(steps: Steps, within: Within, direction: Direction): Place {
  const outer = placeOf(steps, within.branch);
  const paths = steps.find((step) => step.key === within.branch)?.paths ?? [];
  const at = paths.findIndex((path) => path.key === within.path);
  const next = direction === "out" ? undefined : paths[direction === "up" ? at - 1 : at + 1];
  if (!next) {
    return direction === "up" ? outer : { within: outer.within, index: outer.index + 1 };
  }
  const inside = { branch: within.branch, path: next.key };
  return { within: inside, index: direction === "up" ? childrenOf(steps, inside).length : 0 };
}

/** The end of the first path of the branch before, or else the begin of that of the branch behind. */
function placeInto(steps: Steps, before: DraftStep | undefined, behind: DraftStep | undefined): Place | null {
  const branch = [before, behind].find((step) => step?.paths?.length);
  const [path] = branch?.paths ?? [];
  if (!branch || !path) {
    return null;
  }
  const within = { branch: branch.key, path: path.key };
  return { within, index: branch === before ? childrenOf(steps, within).length : 0 };
}
