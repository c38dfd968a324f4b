import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api } from "../../../api/client.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form } from "../../../ui/form.tsx";
import { notify } from "../../../ui/notices.tsx";
import { texts } from "../../texts/schedules.ts";
import { bodyOf, formOf, type Schedule } from "../schedules/model.ts";
import { ScheduleFields } from "../schedules/schedule-fields.tsx";

type EditScheduleProps = { schedule: Schedule; onClose: () => void; onSaved: () => Promise<void> };

export function EditSchedule({ schedule, onClose, onSaved }: EditScheduleProps) {
  const [form, setForm] = useState(formOf(schedule));
  const saving = useAction(async () => {
    const params = { path: { scheduleKey: schedule.identifier } };
    await api.PATCH("/v1/schedules/{scheduleKey}", { params, body: bodyOf(form) });
    notify(texts.saved);
    await onSaved();
    onClose();
  });
  return (
    <Dialog title={texts.editTitle} onClose={onClose}>
      <Form action={saving} submit={texts.save} onCancel={onClose}>
        <ScheduleFields form={form} onForm={setForm} problems={saving.fields} />
      </Form>
    </Dialog>
  );
}
