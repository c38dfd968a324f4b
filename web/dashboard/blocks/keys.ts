/** Keys of the editor, and what becomes of typed signs such as `# ` and `{{name}}`. */
import { Extension, InputRule, textblockTypeInputRule, wrappingInputRule } from "@tiptap/core";
import {
  chainCommands,
  createParagraphNear,
  liftEmptyBlock,
  newlineInCode,
  splitBlockAs,
  toggleMark,
} from "@tiptap/pm/commands";
import { liftListItem, sinkListItem, splitListItem } from "@tiptap/pm/schema-list";
import { type Command, NodeSelection } from "@tiptap/pm/state";
import { findPath } from "./chosen.ts";

/** What people do with blocks, announced; true for the keys that are used up. */
export type Run = {
  move: (by: 1 | -1) => boolean;
  duplicate: () => boolean;
  remove: () => boolean;
};

const MARK_KEYS = { "Mod-b": "bold", "Mod-i": "italic", "Mod-u": "underline", "Mod-e": "code" };

/** Tab is not among the keys, so that it leaves the editor. */
export function makeKeys(run: Run) {
  return Extension.create({
    name: "keys",
    priority: 200,
    addKeyboardShortcuts() {
      const use = (command: Command) => () => command(this.editor.state, this.editor.view.dispatch);
      const marks = Object.entries(MARK_KEYS).map(([key, name]) => [key, use(toggleMarkOf(name))] as const);
      return {
        ...Object.fromEntries(marks),
        Enter: use(enter),
        "Shift-Enter": use(breakLine),
        "Mod-]": use(indent),
        "Mod-[": use(outdent),
        Escape: use(chooseAround),
        "Alt-ArrowUp": () => run.move(-1),
        "Alt-ArrowDown": () => run.move(1),
        "Mod-Shift-d": () => run.duplicate(),
      };
    },
    addInputRules() {
      const { paragraph: _, heading, bulletList, orderedList, blockquote, variable } = this.editor.schema.nodes;
      return heading && bulletList && orderedList && blockquote && variable
        ? [
            ...[1, 2, 3].map((level) =>
              textblockTypeInputRule({
                find: new RegExp(`^#{${level}}\\s$`),
                type: heading,
                getAttributes: { raw: { type: "heading", attrs: { level } } },
              }),
            ),
            wrappingInputRule({ find: /^[-*]\s$/, type: bulletList }),
            wrappingInputRule({ find: /^1\.\s$/, type: orderedList }),
            wrappingInputRule({ find: /^>\s$/, type: blockquote }),
            // Texts of languages stay as they are written.
            new InputRule({
              find: /\{\{\s*(?!t\.)([^{}%\s][^{}%]*?)\s*\}\}$/,
              handler: ({ state, range, match }) => {
                const raw = { type: "variable", attrs: { id: match[1] } };
                state.tr.replaceWith(range.from, range.to, variable.create({ raw }));
              },
            }),
          ]
        : [];
    },
  });
}

export function toggleMarkOf(name: string): Command {
  return (state, dispatch) => {
    const type = state.schema.marks[name];
    return type ? toggleMark(type)(state, dispatch) : false;
  };
}

const splitText = splitBlockAs((node, isAtEnd) => {
  const type = node.type.name === "heading" && isAtEnd ? node.type.schema.nodes.paragraph : node.type;
  return type ? { type, ...(type === node.type && { attrs: node.attrs }) } : null;
});

const splitEntry: Command = (state, dispatch) => {
  const type = state.schema.nodes.listItem;
  return type ? splitListItem(type)(state, dispatch) : false;
};

const enter = chainCommands(newlineInCode, splitEntry, createParagraphNear, liftEmptyBlock, splitText);

const breakLine: Command = (state, dispatch) => {
  const type = state.schema.nodes.hardBreak;
  if (!type || !state.selection.$from.parent.isTextblock) {
    return false;
  }
  dispatch?.(state.tr.replaceSelectionWith(type.create()).scrollIntoView());
  return true;
};

const indent: Command = (state, dispatch) => {
  const type = state.schema.nodes.listItem;
  return type ? sinkListItem(type)(state, dispatch) : false;
};

const outdent: Command = (state, dispatch) => {
  const type = state.schema.nodes.listItem;
  return type ? liftListItem(type)(state, dispatch) : false;
};

/** Choose the block with the cursor as a whole, then the box around it. */
const chooseAround: Command = (state, dispatch) => {
  const path = findPath(state);
  const isWhole = state.selection instanceof NodeSelection && state.selection.node.isBlock;
  const next = isWhole ? path.at(-2) : path.at(-1);
  if (next) {
    dispatch?.(state.tr.setSelection(NodeSelection.create(state.doc, next.pos)).scrollIntoView());
  }
  return next !== undefined;
};
