import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import type { components } from "../../../api/schema.d.ts";
import { Button } from "../../../ui/button.tsx";
import { Copyable } from "../../../ui/copyable.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { optionsOf, SelectField, TextField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { addressOf } from "../../addresses.ts";
import { texts } from "../../texts/environments.ts";

type EnvironmentType = components["schemas"]["EnvironmentType"];

/** Makes an environment, and shows its first key once. */
export function NewEnvironment({ onClose, onCreated }: { onClose: () => void; onCreated: () => void }) {
  const [name, setName] = useState("");
  const [type, setType] = useState<EnvironmentType>("dev");
  const [made, setMade] = useState<components["schemas"]["NewEnvironment"] | null>(null);
  const creating = useAction(async () => {
    setMade(dataOf(await api.POST("/v1/environments", { body: { name, type } })));
    onCreated();
  });

  if (made) {
    return (
      <Dialog title={texts.createdTitle} onClose={onClose}>
        {made.apiKeys?.[0] && (
          <>
            <p>{texts.keyOnce}</p>
            <Copyable text={made.apiKeys[0].key} />
          </>
        )}
        <div class="row">
          {/* The list of environments is loaded with the page. */}
          <Button kind="primary" onClick={() => location.assign(addressOf(made.identifier, "/"))}>
            {texts.open}
          </Button>
          <Button onClick={onClose}>{texts.close}</Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title={texts.create} onClose={onClose}>
      <Form action={creating} submit={texts.createAction} onCancel={onClose}>
        <TextField label={texts.name} required value={name} onValue={setName} problem={creating.fields.name} />
        <SelectField
          label={texts.type}
          value={type}
          options={optionsOf(texts.types)}
          onValue={(value) => setType(value as EnvironmentType)}
        />
      </Form>
    </Dialog>
  );
}
