/** What is chosen in the editor: the block with the cursor, the boxes around it, or something in its line. */
import type { Node } from "@tiptap/pm/model";
import { type EditorState, NodeSelection } from "@tiptap/pm/state";

/** A node and the position before it. */
export type Placed = { node: Node; pos: number };

/** The chosen block; null in an empty selection of the whole document. */
export function findBlock({ selection }: Pick<EditorState, "selection">): Placed | null {
  if (selection instanceof NodeSelection && selection.node.isBlock) {
    return { node: selection.node, pos: selection.from };
  }
  const { $from } = selection;
  return $from.depth === 0 ? null : { node: $from.parent, pos: $from.before() };
}

/** The variable or picture that is chosen in a line. */
export function findInline({ selection }: Pick<EditorState, "selection">): Placed | null {
  const isInline = selection instanceof NodeSelection && selection.node.isInline;
  return isInline ? { node: selection.node, pos: selection.from } : null;
}

/** The blocks around a place, from outside in, and the chosen one as the last. */
export function findPath(state: Pick<EditorState, "selection" | "doc">): Placed[] {
  const chosen = findBlock(state);
  if (!chosen) {
    return [];
  }
  const $pos = state.doc.resolve(chosen.pos);
  const around = Array.from({ length: $pos.depth }, (_, index) => ({
    node: $pos.node(index + 1),
    pos: $pos.before(index + 1),
  }));
  return [...around, chosen];
}

/** What moves, is copied and removed: the entry of a list with its first paragraph. */
export function findMovable(state: Pick<EditorState, "selection" | "doc">): Placed | null {
  const path = findPath(state);
  const [around, chosen] = [path.at(-2), path.at(-1)];
  const isEntry = around?.node.type.name === "listItem" && chosen && around.node.firstChild === chosen.node;
  return (isEntry ? around : chosen) ?? null;
}

/** The block of a path of the server, such as `content[3].content[0].attrs.url`: the innermost that it leads through. */
export function findByPath(doc: Node, path: string): Placed | null {
  let placed: Placed | null = null;
  let [node, start] = [doc, 0];
  for (const [, number] of path.matchAll(/content\[(\d+)\]\.?/g)) {
    const index = Number(number);
    if (node.inlineContent || index >= node.childCount) {
      break;
    }
    const child = node.child(index);
    const pos = node.children.slice(0, index).reduce((sum, one) => sum + one.nodeSize, start);
    placed = { node: child, pos };
    [node, start] = [child, pos + 1];
  }
  return placed;
}
