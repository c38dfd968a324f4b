import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { TextArea, TextField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { texts } from "../../texts/translations.ts";
import { type Contents, withText } from "./contents.ts";

type AddKeyProps = {
  keys: readonly string[];
  /** The default language. */
  locale: string;
  change: (make: (draft: Contents) => Contents) => void;
  onClose: () => void;
};

export function AddKey({ keys, locale, change, onClose }: AddKeyProps) {
  const [key, setKey] = useState("");
  const [text, setText] = useState("");
  const isTaken = keys.includes(key.trim());
  const adding = useAction(async () => {
    change((draft) => withText(draft, locale, key.trim(), text));
    onClose();
  });
  return (
    <Dialog title={texts.addKey} onClose={onClose}>
      <Form
        action={adding}
        submit={texts.addKeyAction}
        isReady={key.trim() !== "" && text !== "" && !isTaken}
        onCancel={onClose}
      >
        <TextField
          label={texts.newKey}
          hint={texts.newKeyHint}
          value={key}
          onValue={setKey}
          required
          autoComplete="off"
          problem={isTaken ? texts.keyTaken : undefined}
        />
        <TextArea label={locale} value={text} onValue={setText} required rows={3} />
      </Form>
    </Dialog>
  );
}
