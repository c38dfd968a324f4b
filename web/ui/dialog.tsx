import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { texts } from "./texts.ts";

type DialogProps = {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
};

/** A modal dialog; Escape and the button close it, and the focus returns to where it was. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    element.current?.showModal();
  }, []);
  return (
    <dialog ref={element} class="dialog" aria-labelledby={id} onClose={onClose}>
      <div class="row spread">
        <h2 id={id}>{title}</h2>
        <button
          type="button"
          class="button button-quiet button-sign"
          aria-label={texts.close}
          onClick={() => element.current?.close()}
        >
          ✕
        </button>
      </div>
      {children}
    </dialog>
  );
}
