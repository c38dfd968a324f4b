/** Asks the page that is shown before the app shows another one. */

export type Guard = {
  /** Whether the page would be left for an address, and should not be yet. */
  holds: (url: string) => boolean;
  /** Ask the person; `go` leaves the page. */
  ask: (go: () => void) => void;
};

let guard: Guard | null = null;

export function setGuard(next: Guard | null): void {
  guard = next;
}

/** Ask whether to leave the page for an address, if it has to be asked; `go` leaves it when the person agrees. */
export function askFirst(url: string, go: () => void): boolean {
  const isHeld = guard?.holds(url) === true;
  if (isHeld) {
    guard?.ask(go);
  }
  return isHeld;
}
