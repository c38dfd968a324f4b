/** The list that opens while a block or a variable is typed: what it offers, and the keys that it takes. */
import type { EditorState } from "@tiptap/pm/state";
import type { RefObject } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Schema } from "../../ui/code-editor/variables.ts";
import { NEW_BLOCKS, type NewBlock } from "./catalog.ts";
import { insertBlock, insertInline } from "./commands.ts";
import type { BlockEditor } from "./editor.ts";
import {
  type BlockOffer,
  findEach,
  findQuery,
  offerBlocks,
  offerVariables,
  type Query,
  type VariableOffer,
} from "./query.ts";

export type Open = { query: Query; offers: readonly (BlockOffer | VariableOffer)[]; chosen: number };

export type SuggestionList = {
  open: Open | null;
  follow: (state: EditorState) => void;
  takeKey: (event: KeyboardEvent) => boolean;
  choose: (index: number) => void;
  add: (block: NewBlock) => void;
};

export function useSuggestions(
  editor: RefObject<BlockEditor>,
  variables: Schema,
  onAdded: (block: NewBlock, isDone: boolean) => void,
): SuggestionList {
  const [open, setOpen] = useState<Open | null>(null);
  const latest = useRef<Open | null>(null);
  // Where the list was closed by Escape.
  const closedAt = useRef<number | null>(null);

  function show(next: Open | null) {
    latest.current = next;
    setOpen(next);
  }
  function follow(state: EditorState) {
    const query = findQuery(state);
    if (query === null || query.from !== closedAt.current) {
      closedAt.current = null;
    }
    const isWanted = query !== null && closedAt.current === null;
    const offers = isWanted ? listOffers(query, state, variables) : [];
    const isSameQuery = latest.current?.query.text === query?.text && latest.current?.query.from === query?.from;
    const chosen = isSameQuery ? (latest.current?.chosen ?? 0) : 0;
    show(query && offers.length > 0 ? { query, offers, chosen } : null);
  }
  function takeKey(event: KeyboardEvent): boolean {
    const now = latest.current;
    if (!now || event.ctrlKey || event.metaKey || event.altKey) {
      return false;
    }
    const count = now.offers.length;
    switch (event.key) {
      case "ArrowDown":
      case "ArrowUp":
        show({ ...now, chosen: (now.chosen + (event.key === "ArrowDown" ? 1 : -1) + count) % count });
        return true;
      case "Enter":
        choose(now.chosen);
        return true;
      case "Escape":
        closedAt.current = now.query.from;
        show(null);
        event.stopPropagation();
        return true;
      default:
        return false;
    }
  }
  function choose(index: number) {
    const now = latest.current;
    const offer = now?.offers[index];
    if (!now || !offer) {
      return;
    }
    const { from, to } = now.query;
    show(null);
    if ("block" in offer) {
      editor.current?.run((state) => state.tr.delete(from, to));
      add(offer.block);
    } else {
      editor.current?.run((state) => takeVariable(state, from, to, offer));
    }
  }
  function add(block: NewBlock) {
    const stored = NEW_BLOCKS[block];
    const isDone = editor.current?.run((state) =>
      block === "inlineImage"
        ? insertInline(state, state.selection.from, state.selection.to, stored)
        : insertBlock(state, stored),
    );
    onAdded(block, isDone === true);
  }
  return { open, follow, takeKey, choose, add };
}

function listOffers(query: Query, state: EditorState, variables: Schema): Open["offers"] {
  return query.kind === "block" ? offerBlocks(query.text) : offerVariables(query.text, variables, findEach(state));
}

/** A whole name becomes a variable; after one that has members, the list goes on with them. */
function takeVariable(state: EditorState, from: number, to: number, { path, isOpen }: VariableOffer) {
  if (isOpen) {
    return state.tr.insertText(`{{${path}.`, from, to);
  }
  const isCode = state.selection.$from.parent.type.spec.code === true;
  return isCode || path.startsWith("t.")
    ? state.tr.insertText(`{{${path}}}`, from, to)
    : insertInline(state, from, to, { type: "variable", attrs: { id: path } });
}
