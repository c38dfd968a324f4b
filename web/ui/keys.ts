/** Keys of the keyboard that do something while a page is shown. */
import { useLayoutEffect, useRef } from "preact/hooks";

export type KeyInfo = { key: string; label: string };

const labelled = new Set<KeyInfo>();

/** The keys that have something to say about themselves, for those who ask which there are. */
export function listKeys(): readonly KeyInfo[] {
  return [...labelled];
}

/**
 * Call `press` for a key such as "j", "?" or "mod+k", unless the person types into a field. With a label, the list of
 * keys has it while the page is shown. Keys work as soon as the page is visible: other effects run a moment later.
 */
export function useKey(key: string, press: () => void, label?: string): void {
  const latest = useRef(press);
  latest.current = press;
  useLayoutEffect(() => {
    function handle(event: KeyboardEvent) {
      const isFree = key.startsWith("mod+") || !isTyping(event.composedPath()[0] ?? null);
      if (matchesKey(key, event) && isFree && !isSequence(event)) {
        event.preventDefault();
        latest.current();
      }
    }
    addEventListener("keydown", handle);
    return () => removeEventListener("keydown", handle);
  }, [key]);
  useLayoutEffect(() => {
    if (label === undefined) {
      return;
    }
    const info = { key, label };
    labelled.add(info);
    return () => {
      labelled.delete(info);
    };
  }, [key, label]);
}

const SEQUENCE_PAUSE = 1500;
const sequences = new WeakSet<KeyboardEvent>();

/** Call `press` with the key that follows on another one, such as "a" of "g a". */
export function useKeyAfter(first: string, press: (key: string) => void): void {
  const latest = useRef(press);
  latest.current = press;
  useLayoutEffect(() => {
    let begunAt = Number.NEGATIVE_INFINITY;
    function handle(event: KeyboardEvent) {
      if (isTyping(event.composedPath()[0] ?? null) || event.ctrlKey || event.metaKey || event.altKey) {
        return;
      }
      if (event.timeStamp - begunAt < SEQUENCE_PAUSE) {
        begunAt = Number.NEGATIVE_INFINITY;
        sequences.add(event);
        latest.current(event.key.toLowerCase());
      } else if (event.key === first) {
        begunAt = event.timeStamp;
      }
    }
    // First of all, so that keys of one letter leave the second letter alone.
    addEventListener("keydown", handle, { capture: true });
    return () => removeEventListener("keydown", handle, { capture: true });
  }, [first]);
}

function isSequence(event: KeyboardEvent): boolean {
  return sequences.has(event);
}

type Pressed = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey">;

export function matchesKey(key: string, event: Pressed): boolean {
  const wantsModifier = key.startsWith("mod+");
  const hasModifier = event.ctrlKey || event.metaKey;
  return event.key.toLowerCase() === key.replace("mod+", "") && hasModifier === wantsModifier && !event.altKey;
}

/** The field itself, also where it is in a shadow root, such as the code editor. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable], dialog") !== null;
}
