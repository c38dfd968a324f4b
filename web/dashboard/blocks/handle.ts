/** The handle beside a block, by which the mouse moves it. */
import { NodeSelection } from "@tiptap/pm/state";
import type { EditorView } from "@tiptap/pm/view";
import { texts } from "../texts/blocks.ts";
import { findMovable, type Placed } from "./chosen.ts";

export function makeHandle(host: HTMLElement, view: EditorView): { destroy: () => void } {
  const handle = document.createElement("div");
  handle.className = "block-handle";
  handle.draggable = true;
  handle.title = texts.moveHandle;
  handle.textContent = "⠿";
  // The keyboard moves blocks by Alt and arrows.
  handle.ariaHidden = "true";
  handle.hidden = true;
  host.append(handle);
  let target: Placed | null = null;

  function show(event: MouseEvent) {
    // It must stay under the pointer until the browser has begun to drag it.
    if (event.buttons !== 0) {
      return;
    }
    target = view.editable ? findUnder(view, event) : null;
    const element = target && view.nodeDOM(target.pos);
    handle.hidden = !(element instanceof HTMLElement);
    if (element instanceof HTMLElement) {
      const [place, around] = [element.getBoundingClientRect(), host.getBoundingClientRect()];
      handle.style.top = `${place.top - around.top + host.scrollTop}px`;
      handle.style.left = `${Math.max(place.left - around.left - 22, 0)}px`;
    }
  }
  function choose() {
    if (target && view.state.doc.nodeAt(target.pos)) {
      view.dispatch(view.state.tr.setSelection(NodeSelection.create(view.state.doc, target.pos)));
      view.focus();
    }
  }
  function start(event: DragEvent) {
    choose();
    const { selection } = view.state;
    const element = view.nodeDOM(selection.from);
    if (!(selection instanceof NodeSelection) || !event.dataTransfer) {
      return;
    }
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", selection.node.textContent || " ");
    if (element instanceof Element) {
      event.dataTransfer.setDragImage(element, 0, 0);
    }
    view.dragging = { slice: selection.content(), move: true };
  }
  function end() {
    view.dragging = null;
  }
  view.dom.addEventListener("mousemove", show);
  handle.addEventListener("click", choose);
  handle.addEventListener("dragstart", start);
  handle.addEventListener("dragend", end);
  return { destroy: () => handle.remove() };
}

/** The block under the pointer that moves as a whole. */
function findUnder(view: EditorView, event: MouseEvent): Placed | null {
  const at = view.posAtCoords({ left: event.clientX, top: event.clientY });
  if (!at) {
    return null;
  }
  const { doc } = view.state;
  const leaf = at.inside >= 0 ? doc.nodeAt(at.inside) : null;
  if (leaf?.isBlock && at.inside >= 0) {
    return findMovable({ doc, selection: NodeSelection.create(doc, at.inside) });
  }
  const $pos = doc.resolve(at.pos);
  return $pos.depth === 0 ? null : findMovable({ doc, selection: NodeSelection.create(doc, $pos.before()) });
}
