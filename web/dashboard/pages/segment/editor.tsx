import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { Form } from "../../../ui/form.tsx";
import { LeaveGuard } from "../../../ui/leave-guard.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Page } from "../../../ui/page.tsx";
import { useAddress, useCan } from "../../session.ts";
import { texts } from "../../texts/segments.ts";
import { isSame } from "../../values.ts";
import { LivePeople } from "../segments/live-people.tsx";
import { changesOf, formOf, type Segment } from "../segments/model.ts";
import { SegmentFields } from "../segments/segment-fields.tsx";
import { DeleteSegment } from "./delete-segment.tsx";
import { Usage } from "./usage.tsx";

/** The segment as it is saved beside what is being changed of it, with the people who would be in it. */
export function SegmentEditor({ segment }: { segment: Segment }) {
  const canWrite = useCan("segments:write");
  const address = useAddress();
  const { route } = useLocation();
  const [saved, setSaved] = useState(segment);
  const [form, setForm] = useState(formOf(segment));
  const [isDeleting, setDeleting] = useState(false);
  const [isDeleted, setDeleted] = useState(false);
  const isDirty = !isSame(form, formOf(saved));
  // Only after nothing can be lost any more, for which it would be asked whether to leave.
  useEffect(() => {
    if (isDeleted) {
      route(address("/segments"));
    }
  }, [isDeleted]);
  const saving = useAction(async () => {
    const params = { path: { segmentKey: saved.key } };
    const after = dataOf(await api.PATCH("/v1/segments/{segmentKey}", { params, body: changesOf(saved, form) }));
    setSaved(after);
    // What was typed meanwhile stays.
    setForm((now) => (now === form ? formOf(after) : now));
    notify(texts.saved);
  });
  return (
    <Page
      title={saved.name}
      back={{ href: address("/segments"), label: texts.toList }}
      lead={<code>{saved.key}</code>}
      actions={
        canWrite && (
          <Button kind="danger" onClick={() => setDeleting(true)}>
            {texts.remove}
          </Button>
        )
      }
    >
      <div class="segment-editor">
        <section class="panel stack">
          <Form action={saving} isReady={isDirty} {...(canWrite && { submit: texts.save })}>
            <SegmentFields form={form} onForm={setForm} problems={saving.fields} disabled={!canWrite} />
          </Form>
          {!canWrite && <p class="quiet small">{texts.readOnly}</p>}
        </section>
        <div class="stack">
          <LivePeople
            condition={form.condition}
            segmentKey={isSame(form.condition, saved.condition) ? saved.key : undefined}
          />
          <Usage segmentKey={saved.key} />
        </div>
      </div>
      <LeaveGuard isActive={isDirty && !isDeleted} />
      {isDeleting && (
        <DeleteSegment segmentKey={saved.key} onDeleted={() => setDeleted(true)} onClose={() => setDeleting(false)} />
      )}
    </Page>
  );
}
