/** Where the server finds a problem of a step, and where that is in the editor, which names variants by their keys. */
import { valueAt } from "../../values.ts";
import type { DraftStep } from "./model.ts";

type Part = Pick<DraftStep, "controlValues" | "filters">;
type Whole = Part & Pick<DraftStep, "name" | "variants">;

const VARIANT = /^variants\.([^.]+)(?:\.(.*))?$/;

/** The path that names a variant by its key instead of its place in the step that the server saw. */
export function keyedPath(path: string, seen: Pick<DraftStep, "variants">): string {
  const [, place, inner] = VARIANT.exec(path) ?? [];
  const variant = seen.variants[Number(place)];
  if (!variant) {
    return path;
  }
  return inner === undefined ? variantPath(variant.key) : `${variantPath(variant.key)}.${inner}`;
}

export function variantPath(key: string): string {
  return `variants.${key}`;
}

/** The value that a problem is about, a text as a whole (the path goes on inside of a block document); null: of a variant
 * that is gone. */
export function valueIn(step: Whole, path: string): unknown {
  const [, key, inner] = VARIANT.exec(path) ?? [];
  if (key === undefined) {
    return valueInPart(step, path);
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
