/** A payload for templates whose workflow has no schema: each value that they print is its own name. */
import { isObject, type JsonObject } from "../../values.ts";
import type { DraftStep } from "./model.ts";

const OUTPUT = /\{\{-?\s*(.*?)-?\}\}/gs;
const PATH = /(?<![\w.])payload((?:\.[A-Za-z_]\w*)+)(?![\w.[])/g;

export function payloadOfTexts(steps: readonly DraftStep[]): JsonObject {
  const text = JSON.stringify(steps.map((step) => [step.controlValues, step.filters, step.variants, step.paths]));
  const payload: JsonObject = {};
  for (const [, output = ""] of text.matchAll(OUTPUT)) {
    for (const [, path = ""] of output.matchAll(PATH)) {
      addPath(payload, path.slice(1).split("."));
    }
  }
  return payload;
}

function addPath(payload: JsonObject, names: readonly string[]): void {
  let place = payload;
  for (const [index, name] of names.entries()) {
    if (index === names.length - 1) {
      place[name] ??= name;
      return;
    }
    const inner = isObject(place[name]) ? place[name] : {};
    place[name] = inner;
    place = inner;
  }
}
