// Where popovers go, and where the focus was when they close.

/** Puts a popover below or above what it belongs to, within the window. */
export function place(popover: HTMLElement, anchor: Element): void {
  const margin = 8;
  const at = anchor.getBoundingClientRect();
  const { offsetWidth: width } = popover;
  const isReversed = getComputedStyle(popover).direction === "rtl";
  const start = isReversed ? at.left : at.right - width;
  const below = innerHeight - at.bottom - 2 * margin;
  const isAbove = below < popover.offsetHeight && at.top > innerHeight - at.bottom;
  const { style } = popover;
  style.left = `${Math.max(margin, Math.min(start, document.documentElement.clientWidth - width - margin))}px`;
  style.top = isAbove ? "auto" : `${at.bottom + margin}px`;
  style.bottom = isAbove ? `${innerHeight - at.top + margin}px` : "auto";
  style.maxHeight = `${isAbove ? at.top - 2 * margin : below}px`;
}

/** Whether a popover that was closed had the focus; else a click has put it somewhere else. */
export function hadFocus(popover: HTMLElement): boolean {
  const active = (popover.getRootNode() as ShadowRoot).activeElement;
  return active ? popover.contains(active) : document.activeElement === document.body;
}
