/** Templates in the values of conditions, if they only name variables; others are known in the run. */
import { isObject } from "../values.ts";
import { findValue, isAbsent } from "./values.ts";

const OUTPUT = /\{\{-?\s*([A-Za-z_][\w.[\]-]*?)\s*-?\}\}/g;

/** The value with all texts rendered; undefined if one of them is more than names of variables. */
export function renderSimply(value: unknown, variables: unknown): unknown {
  if (typeof value === "string") {
    return renderText(value, variables);
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => renderSimply(item, variables));
    return items.includes(undefined) ? undefined : items;
  }
  if (!isObject(value)) {
    return value;
  }
  const members = Object.entries(value).map(([name, item]) => [name, renderSimply(item, variables)] as const);
  return members.some(([, item]) => item === undefined) ? undefined : Object.fromEntries(members);
}

function renderText(text: string, variables: unknown): string | undefined {
  if (!text.includes("{{") && !text.includes("{%")) {
    return text;
  }
  const rest = text.replaceAll(OUTPUT, "");
  if (rest.includes("{{") || rest.includes("{%") || /\{\{-|-\}\}/.test(text)) {
    return undefined;
  }
  return text.replaceAll(OUTPUT, (_, path: string) => asText(findValue(variables, path)));
}

function asText(value: unknown): string {
  if (Array.isArray(value)) {
    return value.map(asText).join("");
  }
  return isAbsent(value) ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
}
