import { useEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { texts as uiTexts } from "../../ui/texts.ts";
import { texts } from "../texts/shell.ts";
import { Navigation } from "./navigation.tsx";

/** The navigation on a narrow screen; choosing a page closes it. */
export function Drawer({ onClose }: { onClose: () => void }) {
  const element = useRef<HTMLDialogElement>(null);
  const { url } = useLocation();
  const first = useRef(url);
  useEffect(() => element.current?.showModal(), []);
  useEffect(() => {
    if (url !== first.current) {
      element.current?.close();
    }
  }, [url]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside it closes it; the keyboard has Escape
    <dialog
      ref={element}
      class="drawer"
      aria-label={texts.menu}
      onClose={onClose}
      onClick={(event) => event.target === element.current && element.current?.close()}
    >
      <div class="drawer-body">
        <div class="row spread">
          <strong>{texts.product}</strong>
          <button
            type="button"
            class="button button-quiet button-sign"
            aria-label={uiTexts.close}
            onClick={() => element.current?.close()}
          >
            ✕
          </button>
        </div>
        <Navigation />
      </div>
    </dialog>
  );
}
