import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { LocationProvider, useLocation } from "preact-iso/router";
import { currentEntry } from "../../api/entries.ts";
import { askFirst } from "../../ui/leaving.ts";
import { noteFocus } from "./focus.ts";
import { useScrolling } from "./scrolling.ts";

type LocationProps = { scope: string; children: ComponentChildren };

/** The router's location: a page is asked before it is left, and is where it was when somebody comes back to it. */
export function Location({ scope, children }: LocationProps) {
  return (
    <LocationProvider scope={scope}>
      <AskedLocation>{children}</AskedLocation>
    </LocationProvider>
  );
}

function AskedLocation({ children }: { children: ComponentChildren }) {
  const location = useLocation();
  const asked = useMemo(
    () => ({
      ...location,
      // Otherwise the router scrolls the page that is left.
      wasPush: false,
      route: (url: string, replace?: boolean) => {
        const leave = () => go(location.route, url, replace === true);
        if (!askFirst(url, leave)) {
          leave();
        }
      },
    }),
    [location],
  );
  useGoingBack(location.url);
  useScrolling(location.url, location.path);
  useEffect(() => {
    addEventListener("focusin", noteFocus);
    return () => removeEventListener("focusin", noteFocus);
  }, []);
  return <LocationProvider.ctx.Provider value={asked}>{children}</LocationProvider.ctx.Provider>;
}

/** Another address for the same entry of the history leaves the entry what it keeps. */
function go(route: (url: string, replace?: boolean) => void, url: string, isReplacing: boolean): void {
  const entry = isReplacing ? currentEntry() : null;
  route(url, isReplacing);
  if (entry) {
    history.replaceState(entry, "");
  }
}

/** Holds who goes back or forward from a page that asks first. */
function useGoingBack(url: string): void {
  const here = useRef(url);
  here.current = url;
  // The effects of a child are before those of the router, which does not learn of what is stopped here.
  useLayoutEffect(() => {
    function handle(event: PopStateEvent) {
      currentEntry();
      if (askFirst(location.href, () => history.back())) {
        event.stopImmediatePropagation();
        // The page has lost its entry: a new one, behind the one that is wanted, takes its place.
        history.pushState(null, "", here.current);
        currentEntry();
      }
    }
    addEventListener("popstate", handle);
    return () => removeEventListener("popstate", handle);
  }, []);
}
