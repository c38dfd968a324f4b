/**
 * Typing over a selection. The browser would give the new text the looks of the old one by a style attribute, which the
 * policy of the page refuses and reports; so the editor makes the change itself.
 */
import type { TransactionSpec } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

export const typeOverSelection = EditorView.domEventHandlers({
  beforeinput(event, view) {
    if (event.inputType !== "insertText" || event.isComposing || event.data === null || view.state.readOnly) {
      return false;
    }
    const { from, to } = selectedRange(view);
    if (from === to) {
      return false;
    }
    insert(view, { from, to, text: event.data });
    return true;
  },
});

/** What the browser is about to replace; the editor may not know of it yet. */
function selectedRange(view: EditorView): { from: number; to: number } {
  // Chromium has the selection inside of a shadow root only there.
  const root = view.root as ShadowRoot & { getSelection?: () => Selection | null };
  const { anchorNode, anchorOffset, focusNode, focusOffset } = root.getSelection?.() ?? {};
  if (!anchorNode || !focusNode || !view.contentDOM.contains(anchorNode) || !view.contentDOM.contains(focusNode)) {
    return view.state.selection.main;
  }
  const anchor = view.posAtDOM(anchorNode, anchorOffset);
  const head = view.posAtDOM(focusNode, focusOffset);
  return { from: Math.min(anchor, head), to: Math.max(anchor, head) };
}

function insert(view: EditorView, { from, to, text }: { from: number; to: number; text: string }): void {
  const change: TransactionSpec = {
    changes: { from, to, insert: text },
    selection: { anchor: from + text.length },
    scrollIntoView: true,
    userEvent: "input.type",
  };
  const makeChange = () => view.state.update(change);
  const handlers = view.state.facet(EditorView.inputHandler);
  if (!handlers.some((handle) => handle(view, from, to, text, makeChange))) {
    view.dispatch(makeChange());
  }
}
