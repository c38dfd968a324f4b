/** What the command palette asks of a page by its address: `?do=create` opens the dialog that creates something. */
import { useEffect } from "preact/hooks";
import { useUrlState } from "../api/url-state.ts";

export function useRequested(action: "create" | "invite", isAllowed: boolean, open: () => void): void {
  const url = useUrlState();
  const isRequested = url.get("do") === action;
  useEffect(() => {
    if (isRequested) {
      url.set({ do: undefined });
      if (isAllowed) {
        open();
      }
    }
  }, [isRequested]);
}
