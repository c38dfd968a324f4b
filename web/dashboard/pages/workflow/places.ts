/** Where the server finds a problem, and where that is in the editor, which names variants and paths by their keys. */
import { valueAt } from "../../values.ts";
import { type DraftStep, OTHERWISE } from "./model.ts";
import { childrenOf } from "./tree.ts";

type Part = Pick<DraftStep, "controlValues" | "filters">;
type Whole = Part & Pick<DraftStep, "name" | "variants" | "paths">;

const PART = /^(variants|paths)\.([^.]+)(?:\.(.*))?$/;

/** The step that a path in the body of a save is about, and the rest of the path. */
export function findStepAt(path: string, steps: readonly DraftStep[]): { step: DraftStep; path: string } | undefined {
  let found: DraftStep | undefined;
  let within: DraftStep["within"];
  let rest = path;
  for (let match = STEP.exec(rest); match; match = STEP.exec(rest)) {
    found = childrenOf(steps, within)[Number(match[1])];
    rest = match[2] ?? "";
    const inner = INNER.exec(rest);
    const key = inner?.[1] === undefined ? OTHERWISE : found?.paths?.[Number(inner[1])]?.key;
    if (!found || !inner || key === undefined) {
      break;
    }
    within = { branch: found.key, path: key };
    rest = rest.slice(inner[0].length);
  }
  return found && { step: found, path: rest };
}

const STEP = /^steps\.(\d+)\.(?:controlValues\.)?(.+)$/;
const INNER = /^(?:paths\.(\d+)|otherwise)\.(?=steps\.\d)/;

/** The path that names a variant or a path by its key instead of its place in the step that the server saw. */
export function keyedPath(path: string, seen: Pick<DraftStep, "variants" | "paths">): string {
  const [, kind, place, inner] = PART.exec(path) ?? [];
  const part = seen[kind as "variants" | "paths"]?.[Number(place)];
  if (!part) {
    return path;
  }
  const keyed = partPath(kind as "variants" | "paths", part.key);
  return inner === undefined ? keyed : `${keyed}.${inner}`;
}

export function partPath(kind: "variants" | "paths", key: string): string {
  return `${kind}.${key}`;
}

/** The value that a problem is about, a text as a whole (the path goes on inside of a block document); null: of a variant
 * or path that is gone. */
export function valueIn(step: Whole, path: string): unknown {
  const [, kind, key, inner] = PART.exec(path) ?? [];
  if (key === undefined) {
    return path === "paths" ? step.paths : valueInPart(step, path);
  }
  if (kind === "paths") {
    const found = step.paths?.find((one) => one.key === key);
    return found ? valueAt(found, (inner ?? "").split(".")[0] ?? "") : null;
  }
  const variant = step.variants.find((one) => one.key === key);
  if (!variant) {
    return null;
  }
  return inner === undefined ? variant : valueInPart(variant, inner);
}

function valueInPart(part: Part, path: string): unknown {
  const [first = ""] = path.split(/[.[]/);
  const control = valueAt(part.controlValues, first);
  if (control === undefined && first in part) {
    return part[first as keyof Part];
  }
  return typeof control === "string" ? control : valueAt(part.controlValues, path);
}
