/**
 * Where the focus goes when another page is shown: to its heading, which screen readers then read. Those who come back
 * with the keyboard are at the link that they followed.
 */
import { currentEntry, findKept, keep } from "../../api/entries.ts";

const PATIENCE = 10_000;

/** Note which link has the focus, for those who come back. */
export function noteFocus({ target }: FocusEvent): void {
  const link = target instanceof Element ? target.closest("#content a[href]") : null;
  keep(currentEntry().id, "focus", link?.matches(":focus-visible") ? link.getAttribute("href") : null);
}

export function focusPage(): void {
  const content = document.getElementById("content");
  const before = document.activeElement;
  // Those who move between the parts of a page stay where they are.
  if (content === null || (before !== content && content.contains(before))) {
    return;
  }
  if (focusFirst(content)) {
    return;
  }
  // The heading of this page needs data. Somebody who moves on meanwhile is left alone.
  const watcher = new MutationObserver(() => {
    if (document.activeElement !== before || focusFirst(content)) {
      watcher.disconnect();
    }
  });
  watcher.observe(content, { childList: true, subtree: true });
  setTimeout(() => watcher.disconnect(), PATIENCE);
}

function focusFirst(content: HTMLElement): boolean {
  const followed = findKept<string | null>(currentEntry().id, "focus");
  const link = followed ? content.querySelector<HTMLElement>(`a[href="${CSS.escape(followed)}"]`) : null;
  const heading = content.querySelector("h1");
  if (heading === null) {
    return false;
  }
  heading.tabIndex = -1;
  (link ?? heading).focus({ preventScroll: true });
  return true;
}
