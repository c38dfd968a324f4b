import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { curlCommand } from "../../../api/curl.ts";
import type { components } from "../../../api/schema.d.ts";
import { Button } from "../../../ui/button.tsx";
import { Copyable } from "../../../ui/copyable.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { TextField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { fromLocalText } from "../../../ui/formats.ts";
import { texts } from "../../texts/api-keys.ts";
import { ScopeChoice } from "./scope-choice.tsx";

type Scope = components["schemas"]["Scope"];

/** Makes a key, and shows it once. */
export function NewKey({ onClose, onCreated }: { onClose: () => void; onCreated: () => void }) {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>(["all"]);
  const [expires, setExpires] = useState("");
  const [key, setKey] = useState("");
  const creating = useAction(async () => {
    const body = { name, scopes: [...scopes], expiresAt: fromLocalText(expires) || null };
    setKey(dataOf(await api.POST("/v1/environments/api-keys", { body })).key);
    onCreated();
  });

  if (key !== "") {
    return (
      <Dialog title={texts.newKey} onClose={onClose}>
        <p>{texts.shownOnce}</p>
        <Copyable text={key} />
        <h3>{texts.use}</h3>
        <Copyable text={`export CLARION_API_KEY=${key}\n${curlCommand({ path: "/v1/environments/me" })}`} />
        <Button kind="primary" onClick={onClose}>
          {texts.done}
        </Button>
      </Dialog>
    );
  }
  return (
    <Dialog title={texts.create} onClose={onClose}>
      <Form action={creating} submit={texts.createAction} isReady={scopes.length !== 0} onCancel={onClose}>
        <TextField
          label={texts.name}
          hint={texts.nameHint}
          required
          value={name}
          onValue={setName}
          problem={creating.fields.name}
        />
        <ScopeChoice value={scopes} onValue={setScopes} problem={creating.fields.scopes} />
        <TextField
          label={texts.expires}
          hint={texts.expiresHint}
          type="datetime-local"
          step={1}
          value={expires}
          onValue={setExpires}
          problem={creating.fields.expiresAt}
        />
      </Form>
    </Dialog>
  );
}
