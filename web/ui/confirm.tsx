import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useAction } from "../api/action.ts";
import { Dialog } from "./dialog.tsx";
import { TextField } from "./field.tsx";
import { Form } from "./form.tsx";
import { texts } from "./texts.ts";

type ConfirmProps = {
  title: string;
  /** What will happen, and whether it can be undone. */
  children: ComponentChildren;
  /** The verb of the button. */
  action: string;
  isDangerous?: boolean;
  /** What has to be typed first, for what cannot be undone. */
  typed?: string;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
};

/** Asks before something is done; stays open with the server's sentence if it fails. */
export function Confirm({ title, children, action, isDangerous = false, typed, onConfirm, onClose }: ConfirmProps) {
  const [text, setText] = useState("");
  const confirming = useAction(async () => {
    await onConfirm();
    onClose();
  });
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        action={confirming}
        submit={action}
        kind={isDangerous ? "danger" : "primary"}
        isReady={typed === undefined || text === typed}
        onCancel={onClose}
      >
        {children}
        {typed !== undefined && (
          <TextField label={texts.typeToConfirm(typed)} value={text} onValue={setText} autoComplete="off" />
        )}
      </Form>
    </Dialog>
  );
}
