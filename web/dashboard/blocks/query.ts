/** What is being typed that asks for suggestions: a block after a slash, or a variable after two braces. */
import { type EditorState, TextSelection } from "@tiptap/pm/state";
import { type Suggestion, suggestAt } from "../../ui/code-editor/completion.ts";
import type { Schema } from "../../ui/code-editor/variables.ts";
import { texts } from "../texts/blocks.ts";
import { NEW_BLOCKS, type NewBlock } from "./catalog.ts";
import { findPath } from "./chosen.ts";
import { attrsOf } from "./schema.ts";

export type Query = { kind: "block" | "variable"; from: number; to: number; text: string };

export type Offer = { id: string; label: string; detail: string };
export type BlockOffer = Offer & { block: NewBlock };
/** `path` is the whole name; `isOpen`: members of it are to follow. */
export type VariableOffer = Offer & { path: string; isOpen: boolean };

const LEAF = "\u{fffc}";

export function findQuery(state: EditorState): Query | null {
  const { $from, empty } = state.selection;
  if (!(state.selection instanceof TextSelection) || !empty) {
    return null;
  }
  const text = $from.parent.textBetween(0, $from.parentOffset, null, LEAF);
  const to = $from.pos;
  const variable = /\{\{([^{}\u{fffc}]*)$/u.exec(text)?.[1];
  if (variable !== undefined) {
    return { kind: "variable", from: to - variable.length - 2, to, text: variable };
  }
  const block = $from.parent.type.spec.code ? undefined : /(?:^|\s)\/([\p{L}\d ]{0,24})$/u.exec(text)?.[1];
  return block === undefined ? null : { kind: "block", from: to - block.length - 1, to, text: block };
}

export function offerBlocks(text: string): BlockOffer[] {
  const wanted = text.trim().toLowerCase();
  return (Object.keys(NEW_BLOCKS) as NewBlock[])
    .map((block) => ({ id: block, block, label: texts.newNames[block], detail: "" }))
    .filter(({ label }) => label.toLowerCase().includes(wanted));
}

/** Variables whose name begins as it was typed; inside a repeat, `current` is an item. */
export function offerVariables(text: string, variables: Schema, each: string): VariableOffer[] {
  const loop = each === "" ? "" : `{% for current in ${each} %}`;
  const ask = (typed: string) => suggestAt(`${loop}{{${typed}`, loop.length + 2 + typed.length, variables, true);
  const found = ask(text);
  if (!found) {
    return [];
  }
  const start = found.from - loop.length - 2;
  const word = text.slice(start).toLowerCase();
  return found.options
    .filter(({ label }) => label.toLowerCase().startsWith(word))
    .map((option) => offerVariable(option, text.slice(0, start), (path) => ask(`${path}.`) !== null));
}

function offerVariable(option: Suggestion, before: string, hasMembers: (path: string) => boolean): VariableOffer {
  const path = (before + option.insert.replace("$", "")).trimStart();
  const isOpen = option.kind === "variable" && hasMembers(path);
  return { id: option.label, label: option.label, detail: option.detail, path, isOpen };
}

/** The list that the place of the cursor is repeated for; empty outside of repeats. */
export function findEach(state: Pick<EditorState, "selection" | "doc">): string {
  const repeat = findPath(state).findLast(({ node }) => node.type.name === "repeat");
  return repeat ? String(attrsOf(repeat.node).each ?? "") : "";
}

const MAX_DEPTH = 4;
const MAX_NAMES = 300;

/** The names of variables with those of their members, for fields that take a name. */
export function listVariables(variables: Schema, each: string): string[] {
  const names: string[] = [];
  let level = [""];
  for (let depth = 0; depth < MAX_DEPTH && names.length < MAX_NAMES; depth += 1) {
    const offers = level.flatMap((before) => offerVariables(before, variables, each));
    names.push(...offers.map(({ path }) => path));
    level = offers.filter(({ isOpen }) => isOpen).map(({ path }) => `${path}.`);
  }
  return [...new Set(names)].slice(0, MAX_NAMES);
}
