import { useState } from "preact/hooks";
import { api } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Json } from "../../../ui/json.tsx";
import { KeyValues } from "../../../ui/key-values.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Time } from "../../../ui/time.tsx";
import { changes, TEXT_FIELDS, valuesOf } from "../../parts/subscriber-fields.ts";
import { SubscriberForm } from "../../parts/subscriber-form.tsx";
import { useCan } from "../../session.ts";
import { texts as people } from "../../texts/people.ts";
import { texts } from "../../texts/subscriber.ts";
import type { PartProps } from "./part.ts";

/** The fields of a person, with a way to change them. */
export function OverviewPart({ subscriber, reload }: PartProps) {
  const canWrite = useCan("subscribers:write");
  const [isEditing, setEditing] = useState(false);
  const data = subscriber.data ?? {};
  return (
    <>
      <section class="panel stack" aria-labelledby="subscriber-facts">
        <div class="row spread">
          <h2 id="subscriber-facts">{texts.facts}</h2>
          {canWrite && <Button onClick={() => setEditing(true)}>{texts.edit}</Button>}
        </div>
        <KeyValues
          values={[
            [people.fields.subscriberId, <code key="id">{subscriber.subscriberId}</code>],
            ...TEXT_FIELDS.map(
              (field) => [people.fields[field], <Value key={field} text={subscriber[field]} />] as const,
            ),
            [texts.created, <Time key="created" at={subscriber.createdAt} />],
            [texts.updated, <Time key="updated" at={subscriber.updatedAt} />],
            [texts.online, subscriber.isOnline ? texts.onlineNow : null],
            [texts.lastOnline, subscriber.lastOnlineAt && <Time key="online" at={subscriber.lastOnlineAt} />],
          ]}
        />
      </section>
      <section class="panel stack" aria-labelledby="subscriber-data">
        <h2 id="subscriber-data">{people.fields.data}</h2>
        {Object.keys(data).length === 0 ? (
          <p class="quiet">{texts.noData}</p>
        ) : (
          <Json label={people.fields.data} value={data} />
        )}
      </section>
      {isEditing && <EditDialog subscriber={subscriber} reload={reload} onClose={() => setEditing(false)} />}
    </>
  );
}

function Value({ text }: { text: string | null }) {
  return text === null ? <span class="quiet">{texts.noValue}</span> : <bdi>{text}</bdi>;
}

function EditDialog({ subscriber, reload, onClose }: PartProps & { onClose: () => void }) {
  return (
    <Dialog title={texts.editTitle} onClose={onClose}>
      <SubscriberForm
        values={valuesOf(subscriber)}
        isNew={false}
        action={people.save}
        onCancel={onClose}
        onSubmit={async (values, data) => {
          await api.PATCH("/v2/subscribers/{subscriberId}", {
            params: { path: { subscriberId: subscriber.subscriberId } },
            body: changes(subscriber, values, data),
          });
          notify(texts.saved);
          reload();
          onClose();
        }}
      />
    </Dialog>
  );
}
