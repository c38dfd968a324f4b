/** What can be written at a place of a template: variables in scope with their types, filters and tags. */
import { openBlocksAt, scopeAt } from "./liquid-check.ts";
import { FILTERS, INNER_TAGS, TAGS } from "./liquid-words.ts";
import { findShape, listMembers, listNames, type Member, type Schema } from "./variables.ts";

export type Suggestion = {
  label: string;
  kind: "variable" | "filter" | "tag";
  detail: string;
  info: string;
  /** What is written; `$` marks where the cursor goes. */
  insert: string;
};

export type Suggestions = { from: number; options: Suggestion[] };

const PATH = /((?:[\w-]+(?:\[\d+\])?\.)*)([\w-]*)$/;

/** Suggestions inside markup; outside of it only where they are asked for. */
export function suggestAt(text: string, position: number, variables: Schema, isAsked: boolean): Suggestions | null {
  const start = Math.max(text.lastIndexOf("{{", position - 1), text.lastIndexOf("{%", position - 1));
  const before = start < 0 ? "" : text.slice(start + 2, position);
  if (start < 0 || start + 2 > position || /[%}]\}/.test(before)) {
    return isAsked ? suggestOutside(text, position, variables) : null;
  }
  if (isInText(before)) {
    return null;
  }
  const tag = text[start + 1] === "%" ? /^-?\s*(\w*)$/.exec(before) : null;
  if (tag) {
    return { from: position - (tag[1] ?? "").length, options: suggestTags(openBlocksAt(text, start)) };
  }
  const filter = /\|\s*(\w*)$/.exec(before);
  if (filter) {
    return { from: position - (filter[1] ?? "").length, options: FILTER_SUGGESTIONS };
  }
  return suggestVariables(text, start, before, position, { variables, isAsked });
}

type VariableQuestion = { variables: Schema; isAsked: boolean };

function suggestVariables(
  text: string,
  start: number,
  before: string,
  position: number,
  { variables, isAsked }: VariableQuestion,
): Suggestions | null {
  const [, path = "", word = ""] = PATH.exec(before) ?? [];
  const isFresh = path === "" && word === "" && before.trim() !== "" && before.trim() !== "-";
  if (isFresh && !isAsked) {
    return null;
  }
  const scope = scopeAt(text, start, variables);
  const names = path.slice(0, -1).replaceAll(/\[(\d+)\]/g, ".$1");
  const members = path === "" ? listNames(scope) : listMembers(findShape(names.split("."), scope) ?? null, scope.root);
  const options = members.map((member) => suggestMember(member));
  return options.length === 0 ? null : { from: position - word.length, options };
}

function suggestOutside(text: string, position: number, variables: Schema): Suggestions {
  const scope = scopeAt(text, position, variables);
  const options = listNames(scope).map((member) => ({
    ...suggestMember(member),
    label: `{{ ${member.name} }}`,
    insert: `{{ ${member.name}$ }}`,
  }));
  return { from: position, options };
}

function suggestMember({ name, type, description }: Member): Suggestion {
  return { label: name, kind: "variable", detail: type, info: description, insert: name };
}

const FILTER_SUGGESTIONS: Suggestion[] = Object.entries(FILTERS).map(([name, word]) => ({
  label: name,
  kind: "filter",
  detail: word.with ?? "",
  info: word.does,
  insert: word.with ? `${name}: ${word.with}` : name,
}));

/** Tags that can stand here: the end and the parts of the open block first. */
function suggestTags(blocks: readonly string[]): Suggestion[] {
  const open = blocks.at(-1);
  const parts = open ? [`end${open}`, ...(TAGS[open]?.parts ?? [])] : [];
  const first = parts.map((name) => tagSuggestion(name, INNER_TAGS[name] ?? "", ""));
  return [...first, ...Object.entries(TAGS).map(([name, word]) => tagSuggestion(name, word.does, word.with ?? ""))];
}

function tagSuggestion(name: string, info: string, rest: string): Suggestion {
  return { label: name, kind: "tag", detail: "", info, insert: rest === "" ? name : `${name} ${rest}` };
}

function isInText(before: string): boolean {
  const quotes = before.replaceAll(/"[^"]*"|'[^']*'/g, "");
  return /["']/.test(quotes);
}
