/** The editor of blocks itself. It has no history of its own: what was done is in the store of the document. */
import { Editor, Extension } from "@tiptap/core";
import { dropCursor } from "@tiptap/pm/dropcursor";
import type { Fragment, Node } from "@tiptap/pm/model";
import { type EditorState, NodeSelection, Plugin, Selection, type Transaction } from "@tiptap/pm/state";
import { dropPoint } from "@tiptap/pm/transform";
import { Decoration, DecorationSet, type EditorView } from "@tiptap/pm/view";
import { blockName, texts } from "../texts/blocks.ts";
import styles from "./blocks.css";
import { findBlock, findByPath, findMovable } from "./chosen.ts";
import { canHold, choose, duplicateBlock, moveBlock, moveTo, removeBlock } from "./commands.ts";
import { readDocument, writeContent } from "./convert.ts";
import { makeHandle } from "./handle.ts";
import { makeKeys, type Run } from "./keys.ts";
import { MARKS, NODES, readPasted } from "./schema.ts";
import { readStored, type StoredNode } from "./stored.ts";
import { describeBlock, viewNode } from "./views.ts";

export type BlockProblem = { path: string; message: string };

export type BlockEditorOptions = {
  label: string;
  /** Read by screen readers after the label. */
  description: string;
  isReadOnly: boolean;
  problems: readonly BlockProblem[];
  /** The ids of the list of suggestions and of the chosen one, while it is open. */
  list: { id: string; chosen: string } | null;
  onText: (text: string) => void;
  /** The document or what is chosen in it has changed. */
  onState: (state: EditorState) => void;
  /** Keys that the list of suggestions takes; true if it did. */
  onKey: (event: KeyboardEvent) => boolean;
  announce: (sentence: string) => void;
};

export type Make = (state: EditorState) => Transaction | null;

export type BlockEditor = Run & {
  view: EditorView;
  update: (options: BlockEditorOptions) => void;
  setText: (text: string) => void;
  /** Do what a command makes, and go on in the document; false if it can do nothing. */
  run: (make: Make) => boolean;
  /** Do it while the focus stays in a field beside. */
  change: (make: Make) => void;
  /** Go to the block of a path of the server. */
  reveal: (path: string) => void;
  destroy: () => void;
};

const OUTSIDE = "outside";

export function createBlockEditor(host: HTMLElement, text: string, first: BlockEditorOptions): BlockEditor {
  adoptStyles();
  let options = first;
  let loaded: { text: string; content: Fragment } | null = null;
  let shell: Partial<StoredNode> = {};
  const run: Run = { move, duplicate, remove };
  const editor = new Editor({
    element: host,
    injectCSS: false,
    enablePasteRules: false,
    content: { type: "doc", content: [{ type: "paragraph" }] },
    editable: !first.isReadOnly,
    extensions: [...NODES, ...MARKS, makeKeys(run), makeParts(() => options, move)],
    onTransaction: ({ transaction }) => {
      if (transaction.docChanged && !transaction.getMeta(OUTSIDE)) {
        options.onText(writeText(transaction.doc));
      }
      options.onState(editor.state);
    },
  });
  const { view } = editor;
  const handle = makeHandle(host, view);
  setText(text);
  view.dispatch(view.state.tr.setSelection(Selection.atStart(view.state.doc)));

  function writeText(doc: Node): string {
    if (loaded?.content.eq(doc.content)) {
      return loaded.text;
    }
    return JSON.stringify({ ...shell, type: "doc", content: writeContent(doc) });
  }
  function setText(next: string) {
    const stored = readStored(next);
    if (!stored) {
      return;
    }
    const doc = readDocument(editor.schema, stored);
    const { content: _, ...others } = stored;
    shell = others;
    loaded = { text: next, content: doc.content };
    const tr = replaceContent(view.state, doc);
    if (tr) {
      view.dispatch(tr.setMeta(OUTSIDE, true));
    }
  }
  function apply(make: Make): boolean {
    const tr = options.isReadOnly ? null : make(view.state);
    if (tr) {
      view.dispatch(tr);
    }
    return tr !== null;
  }
  function describeChosen(): string {
    const chosen = findMovable(view.state);
    return chosen ? describeBlock(chosen.node) : "";
  }
  function move(by: 1 | -1 | Make): boolean {
    const name = describeChosen();
    const isMoved = apply(typeof by === "function" ? by : (state) => moveBlock(state, by));
    options.announce(isMoved ? describeMove(view.state) : texts.cannotMove(name));
    return true;
  }
  function duplicate(): boolean {
    const name = describeChosen();
    if (apply(duplicateBlock)) {
      options.announce(texts.duplicated(name));
    }
    return true;
  }
  function remove(): boolean {
    const name = describeChosen();
    if (apply(removeBlock)) {
      options.announce(texts.removed(name));
    }
    return true;
  }

  return {
    ...run,
    view,
    update: (next) => {
      const isOther = next.isReadOnly !== options.isReadOnly;
      options = next;
      if (isOther) {
        editor.setEditable(!next.isReadOnly, false);
      }
      // What is around the document, such as problems, is drawn again.
      view.dispatch(view.state.tr);
    },
    setText,
    run: (make) => {
      const isDone = apply(make);
      view.focus();
      return isDone;
    },
    change: (make) => void apply(make),
    reveal: (path) => {
      const placed = findByPath(view.state.doc, path);
      view.focus();
      if (placed) {
        view.dispatch(choose(view.state.tr, placed.pos));
        options.announce(texts.chosen(describeBlock(placed.node)));
      }
    },
    destroy: () => {
      handle.destroy();
      editor.destroy();
    },
  };
}

let sheet: CSSStyleSheet | null = null;

/** The style sheet comes with the editor; the content policy allows no elements with styles. */
function adoptStyles(): void {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(styles);
    document.adoptedStyleSheets.push(sheet);
  }
}

/** Replace only what differs, so that the cursor stays. */
function replaceContent(state: EditorState, next: Node): Transaction | null {
  const { doc } = state;
  const start = doc.content.findDiffStart(next.content);
  const end = doc.content.findDiffEnd(next.content);
  if (start === null || !end) {
    return null;
  }
  const overlap = Math.max(0, start - Math.min(end.a, end.b));
  return state.tr.replace(start, end.a + overlap, next.slice(start, end.b + overlap));
}

function describeMove(state: EditorState): string {
  const moved = findMovable(state);
  if (!moved) {
    return "";
  }
  const $pos = state.doc.resolve(moved.pos);
  const box = $pos.depth === 0 ? "" : blockName($pos.parent.type.name);
  return texts.moved(describeBlock(moved.node), $pos.index() + 1, $pos.parent.childCount, box);
}

/** What the view needs besides the nodes: how they look, which one is chosen, problems, dropping. */
function makeParts(options: () => BlockEditorOptions, move: (make: Make) => boolean) {
  return Extension.create({
    name: "parts",
    // The list of suggestions takes keys before the document does.
    priority: 300,
    addProseMirrorPlugins() {
      const { editor } = this;
      const names = Object.keys(editor.schema.nodes).filter((name) => name !== "doc" && name !== "text");
      const nodeViews = Object.fromEntries(
        names.map((name) => [
          name,
          (node: Node, view: EditorView, getPos: () => number | undefined) =>
            viewNode(node, () => {
              const pos = getPos();
              if (pos !== undefined) {
                view.dispatch(view.state.tr.setSelection(NodeSelection.create(view.state.doc, pos)));
                view.focus();
              }
            }),
        ]),
      );
      const markViews = { textStyle: viewColor, unknownMark: viewUnknownMark };
      const look = new Plugin({
        props: {
          nodeViews,
          markViews,
          attributes: () => attributesOf(options()),
          decorations: (state) => decorate(state, options()),
          transformPastedHTML: readPasted,
          handleKeyDown: (_, event) => options().onKey(event),
          // Typing would replace a block that is chosen as a whole.
          handleTextInput: (view) => view.state.selection instanceof NodeSelection && view.state.selection.node.isBlock,
          handleDrop: (view, event, slice) => {
            const { selection } = view.state;
            const at = view.posAtCoords({ left: event.clientX, top: event.clientY });
            if (!(selection instanceof NodeSelection) || !view.dragging || !at) {
              return false;
            }
            const target = dropPoint(view.state.doc, at.pos, slice);
            const { node, from: pos } = selection;
            if (target !== null && canHold(view.state.doc.resolve(target), node)) {
              move((state) => moveTo(state, { node, pos }, target));
            }
            return true;
          },
          handleDOMEvents: {
            // The browser's own undo knows nothing of blocks; the keys are those of the page.
            beforeinput: (_, event) => {
              const isUndo = event.inputType === "historyUndo" || event.inputType === "historyRedo";
              if (isUndo) {
                event.preventDefault();
              }
              return isUndo;
            },
          },
        },
      });
      return [look, dropCursor({ class: "block-drop", color: false, width: 3 })];
    },
  });
}

function attributesOf({ label, description, isReadOnly, problems, list }: BlockEditorOptions): Record<string, string> {
  return {
    class: "blocks-paper",
    role: "textbox",
    "aria-multiline": "true",
    "aria-label": label,
    "aria-description": description,
    ...(list && { "aria-controls": list.id, "aria-activedescendant": list.chosen, "aria-autocomplete": "list" }),
    ...(isReadOnly && { "aria-readonly": "true" }),
    ...(problems.length > 0 && { "aria-invalid": "true" }),
  };
}

function decorate(state: EditorState, { problems }: BlockEditorOptions): DecorationSet {
  const chosen = findBlock(state);
  const found = chosen
    ? [Decoration.node(chosen.pos, chosen.pos + chosen.node.nodeSize, { class: "block-chosen" })]
    : [];
  const told = problems.flatMap(({ path, message }) => {
    const placed = findByPath(state.doc, path);
    const attributes = { class: "block-wrong", "data-problem": message };
    return placed ? [Decoration.node(placed.pos, placed.pos + placed.node.nodeSize, attributes)] : [];
  });
  return DecorationSet.create(state.doc, [...told, ...found]);
}

function viewColor(mark: { attrs: Record<string, unknown> }) {
  const dom = document.createElement("span");
  const { attrs } = (mark.attrs.raw ?? {}) as { attrs?: { color?: unknown } };
  dom.style.color = typeof attrs?.color === "string" ? attrs.color : "";
  return { dom };
}

function viewUnknownMark(mark: { attrs: Record<string, unknown> }) {
  const dom = document.createElement("span");
  dom.className = "block-unknown-mark";
  dom.title = texts.unknownMark(String((mark.attrs.raw as { type?: unknown } | null)?.type));
  return { dom };
}
