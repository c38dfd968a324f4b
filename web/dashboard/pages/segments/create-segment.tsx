import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api } from "../../../api/client.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { TextField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { notify } from "../../../ui/notices.tsx";
import { texts } from "../../texts/segments.ts";
import { LivePeople } from "./live-people.tsx";
import { bodyOf, EMPTY } from "./model.ts";
import { SegmentFields } from "./segment-fields.tsx";

type CreateSegmentProps = { onClose: () => void; onCreated: (key: string) => void };

export function CreateSegment({ onClose, onCreated }: CreateSegmentProps) {
  const [form, setForm] = useState(EMPTY);
  const creating = useAction(async () => {
    await api.POST("/v1/segments", { body: bodyOf(form) });
    notify(texts.created);
    onCreated(form.key);
  });
  return (
    <Dialog title={texts.create} onClose={onClose}>
      <Form action={creating} submit={texts.createAction} onCancel={onClose}>
        <TextField
          label={texts.key}
          hint={texts.keyHint}
          value={form.key}
          onValue={(key) => setForm({ ...form, key })}
          required
          autoComplete="off"
          problem={creating.fields.key}
        />
        <SegmentFields form={form} onForm={setForm} problems={creating.fields} />
        <LivePeople condition={form.condition} />
      </Form>
    </Dialog>
  );
}
