/** What a person does to the paths of a branch. */
import { changeStep, type Draft, type DraftPath, type DraftStep, freeName, MAX_PATHS, OTHERWISE } from "./model.ts";
import { inReadingOrder } from "./tree.ts";

/** Whether a branch splits people by weights; else it has conditions. */
export function isWeighted(branch: Pick<DraftStep, "paths">): boolean {
  return (branch.paths ?? []).some((path) => path.weight !== undefined);
}

/** The paths but for the one where no condition holds. */
export function namedPaths(branch: Pick<DraftStep, "paths">): DraftPath[] {
  return (branch.paths ?? []).filter((path) => path.key !== OTHERWISE);
}

export function canAddPath(branch: DraftStep): boolean {
  return namedPaths(branch).length < MAX_PATHS;
}

/** What a path gets of all people, in hundredths. */
export function shareOf(branch: DraftStep, path: DraftPath): number {
  const all = namedPaths(branch).reduce((sum, one) => sum + (one.weight ?? 0), 0);
  return all === 0 ? 0 : Math.round(((path.weight ?? 0) / all) * 100);
}

export function changePath(draft: Draft, branch: DraftStep, key: string, changes: Partial<DraftPath>): Draft {
  return setPaths(
    draft,
    branch,
    (branch.paths ?? []).map((path) => (path.key === key ? without({ ...path, ...changes }) : path)),
  );
}

/** Members that are undefined are taken away. */
function without(path: DraftPath): DraftPath {
  return Object.fromEntries(Object.entries(path).filter(([, value]) => value !== undefined)) as DraftPath;
}

export function addPath(draft: Draft, branch: DraftStep, nameOf: (number: number) => string): Draft {
  const path = { ...newPath(branch, nameOf), ...(isWeighted(branch) && { weight: 1 }) };
  return setPaths(draft, branch, (branch.paths ?? []).toSpliced(namedPaths(branch).length, 0, path));
}

function newPath(branch: DraftStep, nameOf: (number: number) => string): DraftPath {
  const paths = branch.paths ?? [];
  const names = paths.map((path) => path.name);
  let number = namedPaths(branch).length + 1;
  while (names.includes(nameOf(number))) {
    number += 1;
  }
  return { key: freeName(`path-${number}`, new Set(paths.map((path) => path.key))), name: nameOf(number) };
}

export function addOtherwise(draft: Draft, branch: DraftStep): Draft {
  return setPaths(draft, branch, [...namedPaths(branch), { key: OTHERWISE, name: OTHERWISE }]);
}

/** Take a path away, with its steps. */
export function removePath(draft: Draft, branch: DraftStep, key: string): Draft {
  return setPaths(
    draft,
    branch,
    (branch.paths ?? []).filter((path) => path.key !== key),
  );
}

/** Move a path with its steps by one place. */
export function movePath(draft: Draft, branch: DraftStep, key: string, by: -1 | 1): Draft {
  const paths = namedPaths(branch);
  const from = paths.findIndex((path) => path.key === key);
  const path = paths[from];
  if (!path || !paths[from + by]) {
    return draft;
  }
  const others = (branch.paths ?? []).slice(paths.length);
  return setPaths(draft, branch, [...paths.toSpliced(from, 1).toSpliced(from + by, 0, path), ...others]);
}

/** Decide by weights, or by conditions. Weights leave nobody over: steps for those become a path of their own. */
export function decideBy(draft: Draft, branch: DraftStep, kind: "weights" | "conditions", restName: string): Draft {
  if (kind === "conditions") {
    const paths = namedPaths(branch).map(({ weight: _, ...path }) => path);
    return setPaths(draft, branch, paths);
  }
  const paths = namedPaths(branch).map(({ condition: _, ...path }) => ({ ...path, weight: 1 }));
  const isUsed = draft.steps.some(({ within }) => within?.branch === branch.key && within.path === OTHERWISE);
  if (!isUsed) {
    return setPaths(draft, branch, paths);
  }
  const rest = { key: freeName("rest", new Set(paths.map((path) => path.key))), name: restName, weight: 1 };
  const steps = draft.steps.map((step) =>
    step.within?.branch === branch.key && step.within.path === OTHERWISE
      ? { ...step, within: { branch: branch.key, path: rest.key } }
      : step,
  );
  return setPaths({ ...draft, steps }, branch, [...paths, rest]);
}

function setPaths(draft: Draft, branch: DraftStep, paths: DraftPath[]): Draft {
  const changed = changeStep(draft, branch.key, { paths });
  return { ...changed, steps: inReadingOrder(changed.steps) };
}
