import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api } from "../../../api/client.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { TextField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { notify } from "../../../ui/notices.tsx";
import { texts } from "../../texts/schedules.ts";
import { bodyOf, EMPTY } from "./model.ts";
import { ScheduleFields } from "./schedule-fields.tsx";

type CreateScheduleProps = { onClose: () => void; onCreated: (identifier: string) => void };

export function CreateSchedule({ onClose, onCreated }: CreateScheduleProps) {
  const [form, setForm] = useState(EMPTY);
  const creating = useAction(async () => {
    await api.POST("/v1/schedules", { body: { identifier: form.identifier, ...bodyOf(form) } });
    notify(texts.created);
    onCreated(form.identifier);
  });
  return (
    <Dialog title={texts.create} onClose={onClose}>
      <Form action={creating} submit={texts.createAction} onCancel={onClose}>
        <TextField
          label={texts.identifier}
          hint={texts.identifierHint}
          value={form.identifier}
          onValue={(identifier) => setForm({ ...form, identifier })}
          required
          autoComplete="off"
          problem={creating.fields.identifier}
        />
        <ScheduleFields form={form} onForm={setForm} problems={creating.fields} />
      </Form>
    </Dialog>
  );
}
