import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form } from "../../../ui/form.tsx";
import { texts } from "../../texts/webhooks.ts";
import { EndpointFields, type EndpointForm } from "./endpoint-fields.tsx";
import { SecretOnce } from "./secret-once.tsx";

/** Adds an endpoint, and shows its secret once. */
export function NewEndpoint({ onClose, onCreated }: { onClose: () => void; onCreated: () => void }) {
  const [form, setForm] = useState<EndpointForm>({ url: "", description: "", eventTypes: [] });
  const [secret, setSecret] = useState("");
  const creating = useAction(async () => {
    const body = { ...form, description: form.description || null };
    setSecret(dataOf(await api.POST("/v1/webhooks/endpoints", { body })).secret);
    onCreated();
  });
  if (secret !== "") {
    return <SecretOnce secret={secret} onClose={onClose} />;
  }
  return (
    <Dialog title={texts.create} onClose={onClose}>
      <Form action={creating} submit={texts.createAction} onCancel={onClose}>
        <EndpointFields form={form} onForm={setForm} problems={creating.fields} />
      </Form>
    </Dialog>
  );
}
