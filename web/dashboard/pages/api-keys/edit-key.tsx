import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api } from "../../../api/client.ts";
import type { components } from "../../../api/schema.d.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { TextField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { fromLocalText, toLocalText } from "../../../ui/formats.ts";
import { notify } from "../../../ui/notices.tsx";
import { texts } from "../../texts/api-keys.ts";

type EditKeyProps = { apiKey: components["schemas"]["ApiKey"]; onClose: () => void; onSaved: () => Promise<void> };

/** Changes the name of a key, and when it expires. */
export function EditKey({ apiKey, onClose, onSaved }: EditKeyProps) {
  const [name, setName] = useState(apiKey.name);
  const [expires, setExpires] = useState(toLocalText(apiKey.expiresAt ?? ""));
  const saving = useAction(async () => {
    const params = { path: { apiKeyId: apiKey._id } };
    const body = { name, expiresAt: fromLocalText(expires) || null };
    await api.PATCH("/v1/environments/api-keys/{apiKeyId}", { params, body });
    notify(texts.saved);
    await onSaved();
    onClose();
  });
  return (
    <Dialog title={texts.keyOf(apiKey.name, texts.edit)} onClose={onClose}>
      <Form action={saving} submit={texts.save} onCancel={onClose}>
        <TextField label={texts.name} required value={name} onValue={setName} problem={saving.fields.name} />
        <TextField
          label={texts.expires}
          hint={texts.expiresHint}
          type="datetime-local"
          step={1}
          value={expires}
          onValue={setExpires}
          problem={saving.fields.expiresAt}
        />
      </Form>
    </Dialog>
  );
}
