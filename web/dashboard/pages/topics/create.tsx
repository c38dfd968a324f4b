import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { useAction } from "../../../api/action.ts";
import { api } from "../../../api/client.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { TextField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { notify } from "../../../ui/notices.tsx";
import { topicPath } from "../../parts/person.ts";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/topics.ts";

/** A new topic, whose page is shown afterwards. */
export function CreateTopic({ onClose }: { onClose: () => void }) {
  const address = useAddress();
  const { route } = useLocation();
  const [key, setKey] = useState("");
  const [name, setName] = useState("");
  const creating = useAction(async () => {
    await api.POST("/v2/topics", {
      params: { query: { failIfExists: true } },
      body: { key, ...(name.trim() !== "" && { name: name.trim() }) },
    });
    notify(texts.created(name.trim() || key));
    route(address(topicPath(key)));
  });
  return (
    <Dialog title={texts.create} onClose={onClose}>
      <Form action={creating} submit={texts.createAction} onCancel={onClose}>
        <TextField
          label={texts.key}
          required
          hint={texts.keyHint}
          value={key}
          onValue={setKey}
          problem={creating.fields.key}
          autoComplete="off"
        />
        <TextField
          label={texts.name}
          dir="auto"
          value={name}
          onValue={setName}
          problem={creating.fields.name}
          autoComplete="off"
        />
      </Form>
    </Dialog>
  );
}
