/** Keys that work on all pages. */
import { useLocation } from "preact-iso/router";
import { useKey, useKeyAfter } from "../../ui/keys.ts";
import { findPage } from "../pages.ts";
import { useAddress, useSession } from "../session.ts";
import { SHORTCUTS } from "./shortcuts.ts";

type ShellKeys = { onPalette: () => void; onHelp: () => void };

export function useShellKeys({ onPalette, onHelp }: ShellKeys): void {
  const { route } = useLocation();
  const address = useAddress();
  const { environment } = useSession();
  useKey("mod+k", onPalette);
  useKey("?", onHelp);
  useKey("/", () => {
    const search = document.querySelector<HTMLElement>("#content input[type=search], #content [role=searchbox]");
    if (search) {
      search.focus();
    } else {
      onPalette();
    }
  });
  useKeyAfter("g", (letter) => {
    const path = SHORTCUTS[letter];
    const scope = path && findPage(path)?.scope;
    if (path && (!scope || environment.scopes.includes(scope))) {
      route(address(path));
    }
  });
}
