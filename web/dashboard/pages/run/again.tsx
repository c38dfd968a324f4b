import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { CodeEditor } from "../../../ui/code-editor.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form } from "../../../ui/form.tsx";
import { notify } from "../../../ui/notices.tsx";
import { SubscriberPicker, WorkflowPicker } from "../../parts/pickers.tsx";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/run.ts";
import { type RunEvent, readObject, triggerBodyOf } from "./model.ts";

const LOOKS = 40;
const LOOK_EVERY = 250;

/** Trigger the workflow again, with what may be changed before; leads to the new run. */
export function TriggerAgain({ event, onClose }: { event: RunEvent; onClose: () => void }) {
  const body = triggerBodyOf(event);
  const { route } = useLocation();
  const address = useAddress();
  const [name, setName] = useState(body.name);
  const [to, setTo] = useState(body.to);
  const [payload, setPayload] = useState(JSON.stringify(body.payload, null, 2));
  const [overrides, setOverrides] = useState(JSON.stringify(body.overrides ?? {}, null, 2));
  const [isTried, setTried] = useState(false);
  const readPayload = readObject(payload);
  const readOverrides = readObject(overrides);

  const triggering = useAction(async () => {
    if ("problem" in readPayload || "problem" in readOverrides) {
      setTried(true);
      return;
    }
    const wanted = { name, to, payload: readPayload.value, overrides: readOverrides.value };
    const answer = dataOf(await api.POST("/v1/events/trigger", { body: wanted }));
    if (answer.transactionId === undefined || answer.status !== "processed") {
      throw new Error(answer.error?.join(" ") || texts.notTriggered(answer.status));
    }
    const run = await findRun(answer.transactionId);
    onClose();
    route(address(run ? `/activity/${run}` : `/activity?transactionId=${encodeURIComponent(answer.transactionId)}`));
    notify(texts.triggered);
  });

  return (
    <Dialog title={texts.againTitle} onClose={onClose}>
      <Form action={triggering} submit={texts.againAction} onCancel={onClose}>
        <p class="quiet">{texts.againHint}</p>
        <WorkflowPicker label={texts.workflow} value={name} onValue={setName} problem={triggering.fields.name} />
        <SubscriberPicker label={texts.againTo} value={to} onValue={setTo} problem={triggering.fields.to} />
        <CodeEditor
          label={texts.againPayload}
          language="json"
          value={payload}
          onValue={setPayload}
          rows={6}
          problem={(isTried && problemOf(readPayload)) || problemBelow(triggering.fields, "payload")}
        />
        <CodeEditor
          label={texts.againOverrides}
          language="json"
          value={overrides}
          onValue={setOverrides}
          rows={3}
          problem={(isTried && problemOf(readOverrides)) || problemBelow(triggering.fields, "overrides")}
        />
      </Form>
    </Dialog>
  );
}

function problemOf(read: ReturnType<typeof readObject>): string | undefined {
  return "problem" in read ? read.problem : undefined;
}

/** The sentence about a field, or about something within it, with its path. */
function problemBelow(fields: Record<string, string>, path: string): string | undefined {
  const found = Object.entries(fields).find(([name]) => name === path || name.startsWith(`${path}.`));
  return found && (found[0] === path ? found[1] : `${found[0]}: ${found[1]}`);
}

/** The first run of a transaction; it begins soon after the trigger was taken. */
async function findRun(transactionId: string): Promise<string | undefined> {
  for (let look = 0; look < LOOKS; look++) {
    const query = { transactionId: [transactionId], limit: 1 };
    const [found] = dataOf(await api.GET("/v1/runs", { params: { query } })).data;
    if (found) {
      return found._id;
    }
    await new Promise((done) => setTimeout(done, LOOK_EVERY));
  }
  return undefined;
}
