import { useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { curlCommand } from "../../../api/curl.ts";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { notify } from "../../../ui/notices.tsx";
import { useAddress, useCan } from "../../session.ts";
import { texts } from "../../texts/run.ts";
import { TriggerAgain } from "./again.tsx";
import { hasEnded, type RunData, triggerBodyOf } from "./model.ts";

type Dialog = "cancel" | "redrive" | "again";

/** What can be done about a run. */
export function RunActions({ data, onChange }: { data: RunData; onChange: () => void }) {
  const [dialog, setDialog] = useState<Dialog>();
  const canWrite = useCan("events:write");
  const address = useAddress();
  const close = () => setDialog(undefined);
  const words = texts.actions;
  const person = encodeURIComponent(data.event.subscriber.subscriberId);
  return (
    <>
      {canWrite && !hasEnded(data) && (
        <Button kind="danger" onClick={() => setDialog("cancel")}>
          {words.cancel}
        </Button>
      )}
      {canWrite && data.deadLetters.length > 0 && (
        <Button kind="primary" onClick={() => setDialog("redrive")}>
          {words.redrive}
        </Button>
      )}
      {canWrite && <Button onClick={() => setDialog("again")}>{words.again}</Button>}
      <ButtonLink href={address(`/subscribers/${person}`)}>{words.person}</ButtonLink>
      <CopyButton words={words.curl} done={texts.curlCopied} text={() => triggerCommand(data)} />
      <CopyButton words={words.link} done={texts.linkCopied} text={() => location.origin + location.pathname} />
      {dialog === "cancel" && <CancelRun data={data} onDone={onChange} onClose={close} />}
      {dialog === "redrive" && <Redrive data={data} onDone={onChange} onClose={close} />}
      {dialog === "again" && <TriggerAgain event={data.event} onClose={close} />}
    </>
  );
}

function CopyButton({ words, done, text }: { words: string; done: string; text: () => string }) {
  async function copy() {
    await navigator.clipboard.writeText(text());
    notify(done);
  }
  return (
    <Button kind="quiet" onClick={copy}>
      {words}
    </Button>
  );
}

function triggerCommand(data: RunData): string {
  return curlCommand({ method: "POST", path: "/v1/events/trigger", body: triggerBodyOf(data.event) });
}

type ConfirmedProps = { data: RunData; onDone: () => void; onClose: () => void };

function CancelRun({ data, onDone, onClose }: ConfirmedProps) {
  async function cancel() {
    const path = { transactionId: data.event.transactionId };
    const hadAny = dataOf(await api.DELETE("/v1/events/trigger/{transactionId}", { params: { path } }));
    notify(hadAny ? texts.canceled : texts.notCanceled);
    onDone();
  }
  return (
    <Confirm title={texts.cancelTitle} action={texts.actions.cancel} isDangerous onConfirm={cancel} onClose={onClose}>
      <p>{texts.cancelText}</p>
      {data.hasOthers && (
        <p>
          <strong>{texts.cancelOthers}</strong>
        </p>
      )}
    </Confirm>
  );
}

function Redrive({ data, onDone, onClose }: ConfirmedProps) {
  const letters = data.deadLetters;
  async function redrive() {
    await api.POST("/v1/dead-letters/redrive", { body: { ids: letters.map((one) => one._id) } });
    notify(texts.redriven);
    onDone();
  }
  return (
    <Confirm title={texts.redriveTitle} action={texts.actions.redrive} onConfirm={redrive} onClose={onClose}>
      <p>{texts.redriveText(letters.length)}</p>
      {letters.some((one) => one.possiblyDelivered) && (
        <p>
          <strong>{texts.redrivePossiblyDelivered}</strong>
        </p>
      )}
    </Confirm>
  );
}
