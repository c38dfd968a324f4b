import { useEffect, useRef } from "preact/hooks";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { KeyValues } from "../../../ui/key-values.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { Time } from "../../../ui/time.tsx";
import { MessageBody, useMessage } from "../../message/message.tsx";
import { headlineOf, type MessageDetail, recipientOf } from "../../message/model.ts";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/outbox.ts";

type OpenedProps = { id: string; isChosen: boolean; onBack: () => void };

/** The message that is read. */
export function Opened({ id, isChosen, onBack }: OpenedProps) {
  const loaded = useMessage(id);
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a narrow screen the list that had the focus is gone.
    if (isChosen && document.activeElement === document.body) {
      element.current?.focus();
    }
  }, [id, isChosen]);
  const message = loaded.data?._id === id ? loaded.data : undefined;
  return (
    <article ref={element} class="panel outbox-message" tabIndex={-1}>
      <div class="outbox-back">
        <Button kind="quiet" onClick={onBack}>
          ‹ {texts.back}
        </Button>
      </div>
      {message && <Letter message={message} />}
      {!message && (loaded.error ? <Problem error={loaded.error} onRetry={loaded.reload} /> : <Loading lines={8} />)}
    </article>
  );
}

function Letter({ message }: { message: MessageDetail }) {
  const address = useAddress();
  const { subscriber } = message;
  const name = [subscriber?.firstName, subscriber?.lastName].filter(Boolean).join(" ");
  return (
    <div class="stack">
      <header class="outbox-head">
        <h2>
          <bdi>{headlineOf(message)}</bdi>
        </h2>
        <ButtonLink href={address(`/activity/${message._notificationId}?message=${message._id}`)}>
          {texts.run}
        </ButtonLink>
      </header>
      <KeyValues
        values={[
          [
            texts.to,
            <a key="to" href={address(`/subscribers/${encodeURIComponent(subscriber?.subscriberId ?? "")}`)}>
              <bdi>{name || subscriber?.subscriberId}</bdi> <bdi>{recipientOf(message)}</bdi>
            </a>,
          ],
          [
            texts.workflow,
            <a key="workflow" href={address(`/workflows/${encodeURIComponent(message.templateIdentifier)}`)}>
              <bdi>{message.templateIdentifier}</bdi>
            </a>,
          ],
          [texts.when, <Time key="when" at={message.createdAt} />],
        ]}
      />
      <MessageBody key={message._id} message={message} />
    </div>
  );
}
