import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api } from "../../../api/client.ts";
import type { components } from "../../../api/schema.d.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { CheckField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { notify } from "../../../ui/notices.tsx";
import { texts } from "../../texts/webhooks.ts";
import { EndpointFields, type EndpointForm } from "../webhooks/endpoint-fields.tsx";

type EditEndpointProps = {
  endpoint: components["schemas"]["Endpoint"];
  onClose: () => void;
  onSaved: () => Promise<void>;
};

export function EditEndpoint({ endpoint, onClose, onSaved }: EditEndpointProps) {
  const [form, setForm] = useState<EndpointForm>({
    url: endpoint.url,
    description: endpoint.description ?? "",
    eventTypes: endpoint.eventTypes,
  });
  const [active, setActive] = useState(endpoint.active);
  const saving = useAction(async () => {
    const params = { path: { endpointId: endpoint._id } };
    const body = { ...form, description: form.description || null, active };
    await api.PATCH("/v1/webhooks/endpoints/{endpointId}", { params, body });
    notify(texts.saved);
    await onSaved();
    onClose();
  });
  return (
    <Dialog title={texts.editTitle} onClose={onClose}>
      <Form action={saving} submit={texts.save} onCancel={onClose}>
        <CheckField isSwitch label={texts.isActive} checked={active} onChecked={setActive} />
        <EndpointFields form={form} onForm={setForm} problems={saving.fields} />
      </Form>
    </Dialog>
  );
}
