import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api } from "../../../api/client.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { TextField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { notify } from "../../../ui/notices.tsx";
import { JsonField } from "../../schema-form/json-field.tsx";
import { texts } from "../../texts/contexts.ts";
import { isObject, type JsonObject } from "../../values.ts";

type CreateContextProps = { onClose: () => void; onCreated: (type: string, id: string) => void };

export function CreateContext({ onClose, onCreated }: CreateContextProps) {
  const [type, setType] = useState("tenant");
  const [id, setId] = useState("");
  const [data, setData] = useState<JsonObject>({});
  const creating = useAction(async () => {
    await api.POST("/v2/contexts", { body: { type, id, data } });
    notify(texts.created(id));
    onCreated(type, id);
  });
  return (
    <Dialog title={texts.create} onClose={onClose}>
      <Form action={creating} submit={texts.createAction} onCancel={onClose}>
        <TextField
          label={texts.type}
          hint={texts.typeHint}
          value={type}
          onValue={setType}
          required
          problem={creating.fields.type}
        />
        <TextField
          label={texts.id}
          hint={texts.idHint}
          value={id}
          onValue={setId}
          required
          autoComplete="off"
          problem={creating.fields.id}
        />
        <JsonField
          label={texts.data}
          hint={texts.dataHint(type)}
          value={data}
          onValue={(value) => setData(isObject(value) ? value : {})}
          problem={creating.fields.data}
          disabled={false}
          isObjectWanted
        />
      </Form>
    </Dialog>
  );
}
