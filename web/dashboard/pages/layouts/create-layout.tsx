import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { TextField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { texts } from "../../texts/layouts.ts";
import { kebab } from "../../values.ts";

type CreateLayoutProps = { onClose: () => void; onCreated: (layoutId: string) => void };

/** Makes a layout that has the content of e-mails and nothing around it. */
export function CreateLayout({ onClose, onCreated }: CreateLayoutProps) {
  const [name, setName] = useState("");
  const [typedId, setTypedId] = useState<string | null>(null);
  const layoutId = typedId ?? kebab(name);
  const creating = useAction(async () => {
    onCreated(dataOf(await api.POST("/v2/layouts", { body: { name, layoutId } })).layoutId);
  });
  return (
    <Dialog title={texts.create} onClose={onClose}>
      <Form action={creating} submit={texts.createAction} onCancel={onClose}>
        <TextField
          label={texts.name}
          value={name}
          onValue={setName}
          required
          autoComplete="off"
          problem={creating.fields.name}
        />
        <TextField
          label={texts.identifier}
          hint={texts.identifierHint}
          value={layoutId}
          onValue={(text) => setTypedId(text === "" ? null : text)}
          required
          autoComplete="off"
          problem={creating.fields.layoutId}
        />
      </Form>
    </Dialog>
  );
}
