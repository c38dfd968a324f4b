/** A page begins at its top; those who come back to one are where they left it, as soon as it is long enough again. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { currentEntry, findKept, keep } from "../../api/entries.ts";

const PATIENCE = 5_000;
/** Who does one of these moves on without us. */
const OWN_WAY = ["wheel", "touchstart", "pointerdown", "keydown"];

let placed = "";
let giveUp = () => {};

/** Scroll the page that is shown now to its place. */
export function placePage(): void {
  const { id } = currentEntry();
  if (id !== placed) {
    placed = id;
    giveUp();
    giveUp = scrollWhenPossible(findKept<number>(id, "scroll") ?? 0);
  }
}

/** Note how far pages are scrolled, and return to that also if only the query of the address changes. */
export function useScrolling(url: string, path: string): void {
  const before = useRef(path);
  useEffect(() => {
    // The browser would move the page that is left, and does not wait for what is loaded.
    const setManual = () => {
      history.scrollRestoration = "manual";
    };
    const setAuto = () => {
      history.scrollRestoration = "auto";
    };
    const note = () => keep(currentEntry().id, "scroll", scrollY);
    setManual();
    addEventListener("pageshow", setManual);
    addEventListener("pagehide", setAuto);
    addEventListener("scroll", note, { passive: true });
    return () => {
      removeEventListener("pageshow", setManual);
      removeEventListener("pagehide", setAuto);
      removeEventListener("scroll", note);
    };
  }, []);

  useLayoutEffect(() => {
    // Another page may still be loading, and this one must not move until then.
    if (path === before.current && findKept(currentEntry().id, "scroll") !== undefined) {
      placePage();
    }
    before.current = path;
  }, [url, path]);
}

/** Scroll now, or when what is loaded has made the page long enough; returns what gives that up. */
function scrollWhenPossible(top: number): () => void {
  const watcher = new ResizeObserver(attempt);
  const timer = setTimeout(stop, PATIENCE);
  function attempt() {
    const end = document.documentElement.scrollHeight - innerHeight;
    // Almost there is near enough: the end of the page may be a little higher than it was.
    if (end >= top - innerHeight) {
      scrollTo({ top: Math.min(top, end) });
    }
    if (end >= top) {
      stop();
    }
  }
  function stop() {
    clearTimeout(timer);
    watcher.disconnect();
    for (const name of OWN_WAY) {
      removeEventListener(name, stop);
    }
  }
  for (const name of OWN_WAY) {
    addEventListener(name, stop, { passive: true });
  }
  watcher.observe(document.body);
  attempt();
  return stop;
}
