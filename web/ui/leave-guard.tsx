/** Asks before a page is left on which something is not saved. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { Confirm } from "./confirm.tsx";
import { setGuard } from "./leaving.ts";
import { texts } from "./texts.ts";

type Leaving = { go: () => void };

/**
 * Put it on the page; it does nothing while `isActive` is false, nor when only the query of the address changes.
 *
 * It holds `route()`, links, going back and forward, and what leaves the app altogether.
 */
export function LeaveGuard({ isActive }: { isActive: boolean }) {
  const [leaving, setLeaving] = useState<Leaving | null>(null);
  const { path, route } = useLocation();
  const [own] = useState(path);
  // The page stays until the next one is loaded.
  const isLeft = path !== own;
  const isAllowed = useRef(false);

  useEffect(() => {
    if (!isActive || isLeft) {
      return;
    }
    isAllowed.current = false;
    const holds = (url: string) => !isAllowed.current && new URL(url, location.origin).pathname !== own;
    function warn(event: BeforeUnloadEvent) {
      if (!isAllowed.current) {
        event.preventDefault();
      }
    }
    // Before the router, which follows links without asking.
    function holdClick(event: MouseEvent) {
      const link = findLink(event);
      if (link && holds(link.href)) {
        event.preventDefault();
        event.stopPropagation();
        setLeaving({ go: () => route(link.pathname + link.search) });
      }
    }
    setGuard({ holds, ask: (go) => setLeaving({ go }) });
    addEventListener("beforeunload", warn);
    addEventListener("click", holdClick, true);
    return () => {
      setGuard(null);
      removeEventListener("beforeunload", warn);
      removeEventListener("click", holdClick, true);
    };
  }, [isActive, isLeft]);

  if (!leaving) {
    return null;
  }
  async function leave(go: () => void) {
    isAllowed.current = true;
    go();
  }
  return (
    <Confirm
      title={texts.leaveTitle}
      action={texts.leave}
      onConfirm={() => leave(leaving.go)}
      onClose={() => setLeaving(null)}
    >
      <p>{texts.leaveHint}</p>
    </Confirm>
  );
}

/** The link that a click follows in this window. */
function findLink(event: MouseEvent): HTMLAnchorElement | undefined {
  const hasKey = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
  if (event.button !== 0 || hasKey) {
    return undefined;
  }
  const isLink = (one: EventTarget) => one instanceof HTMLAnchorElement && one.href !== "";
  const link = event.composedPath().find(isLink) as HTMLAnchorElement | undefined;
  return link && link.origin === location.origin && !link.target && !link.download ? link : undefined;
}
