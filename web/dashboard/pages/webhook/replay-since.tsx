import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { CheckField, TextField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { fromLocalText } from "../../../ui/formats.ts";
import { notify } from "../../../ui/notices.tsx";
import { texts } from "../../texts/webhooks.ts";

/** Sends all events since a moment again, for a server that was down. */
export function ReplaySince({ endpointId, onReplayed }: { endpointId: string; onReplayed: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const [since, setSince] = useState("");
  const [isOnlyFailed, setOnlyFailed] = useState(true);
  const [count, setCount] = useState(0);
  const replaying = useAction(async () => {
    let total = 0;
    let after: string | null = null;
    for (;;) {
      const body: { since: string; after: string | null; status: "failed" | null } = {
        since: fromLocalText(since),
        after,
        status: isOnlyFailed ? "failed" : null,
      };
      const params = { path: { endpointId } };
      const done = dataOf(await api.POST("/v1/webhooks/endpoints/{endpointId}/replay", { params, body }));
      total += done.replayed;
      setCount(total);
      if (!done.hasMore || done.last === undefined) {
        break;
      }
      after = done.last;
    }
    notify(texts.replayedCount(total));
    onReplayed();
    setOpen(false);
  });
  return (
    <>
      <Button onClick={() => setOpen(true)}>{texts.replayAll}</Button>
      {isOpen && (
        <Dialog title={texts.replayAll} onClose={() => setOpen(false)}>
          <Form
            action={replaying}
            submit={texts.replayAll}
            onCancel={() => setOpen(false)}
            beside={<span role="status">{replaying.isBusy && texts.replayedCount(count)}</span>}
          >
            <TextField
              label={texts.replaySince}
              type="datetime-local"
              required
              value={since}
              onValue={setSince}
              problem={replaying.fields.since}
            />
            <CheckField label={texts.onlyFailed} checked={isOnlyFailed} onChecked={setOnlyFailed} />
          </Form>
        </Dialog>
      )}
    </>
  );
}
