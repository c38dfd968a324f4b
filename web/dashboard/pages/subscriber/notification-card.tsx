import { useId, useState } from "preact/hooks";
import { api } from "../../../api/client.ts";
import type { components } from "../../../api/schema.d.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Status } from "../../../ui/status.tsx";
import { Time } from "../../../ui/time.tsx";
import { useAddress, useCan } from "../../session.ts";
import { inboxTexts as texts } from "../../texts/subscriber.ts";

export type InboxNotification = components["schemas"]["InboxNotification"];
type Action = Exclude<keyof typeof texts.actions, "delete">;

const HOUR = 3_600_000;

type NotificationCardProps = {
  subscriberId: string;
  notification: InboxNotification;
  onDone: () => void;
  onProblem: (problem: unknown) => void;
};

/** A notification with its state, and what an author can do with it in the person's place. */
export function NotificationCard({ subscriberId, notification: one, onDone, onProblem }: NotificationCardProps) {
  const address = useAddress();
  const canWrite = useCan("messages:write");
  const id = useId();
  const subject = one.subject || texts.noSubject;
  const buttons = [one.primaryAction, one.secondaryAction].filter((button) => button !== undefined);
  return (
    <li class={`panel stack inbox-card ${one.isRead ? "" : "inbox-unread"}`}>
      <article class="stack inbox-content" aria-labelledby={id}>
        <div class="row spread">
          <h3 id={id}>
            <bdi>{subject}</bdi>
          </h3>
          <span class="row">
            <States notification={one} />
            <span class="small quiet">
              <Time at={one.createdAt} />
            </span>
          </span>
        </div>
        <p class="inbox-body" dir="auto">
          {one.body}
        </p>
        {buttons.length > 0 && (
          <p class="small quiet">
            {texts.buttons}:{" "}
            {buttons.map((button) => `${button.label}${button.isCompleted ? ` (${texts.completed})` : ""}`).join(", ")}
          </p>
        )}
      </article>
      <div class="row spread">
        <p class="row small">
          <a href={address(`/workflows/${encodeURIComponent(one.workflow.identifier)}`)}>
            <bdi>{one.workflow.name}</bdi>
          </a>
          <a href={address(`/activity?transactionId=${encodeURIComponent(one.transactionId)}`)}>{texts.runs}</a>
        </p>
        {canWrite && (
          <Actions
            subscriberId={subscriberId}
            notification={one}
            subject={subject}
            onDone={onDone}
            onProblem={onProblem}
          />
        )}
      </div>
    </li>
  );
}

function States({ notification: one }: { notification: InboxNotification }) {
  return (
    <>
      {texts.severity[one.severity] && (
        <Status tone={one.severity === "high" ? "bad" : "plain"}>{texts.severity[one.severity]}</Status>
      )}
      {one.isSnoozed && one.snoozedUntil && (
        <Status tone="wait">
          {texts.snoozedUntil} <Time at={one.snoozedUntil} />
        </Status>
      )}
      {one.isArchived && <Status tone="plain">{texts.archived}</Status>}
      <Status tone={one.isRead ? "good" : "wait"}>{one.isRead ? texts.read : texts.unread}</Status>
    </>
  );
}

function Actions({
  subscriberId,
  notification: one,
  subject,
  onDone,
  onProblem,
}: NotificationCardProps & { subject: string }) {
  const [isDeleting, setDeleting] = useState(false);
  const path = { subscriberId, notificationId: one.id };
  const offered: Action[] = one.isSnoozed
    ? ["unsnooze"]
    : [one.isRead ? "unread" : "read", one.isArchived ? "unarchive" : "archive", "snooze"];

  async function perform(action: Action) {
    try {
      await send(action, path);
      notify(texts.done[action]);
      onDone();
    } catch (problem) {
      onProblem(problem);
    }
  }

  return (
    <div class="row">
      {offered.map((action) => (
        <Button
          key={action}
          kind="quiet"
          aria-label={texts.of(texts.actions[action], subject)}
          onClick={() => void perform(action)}
        >
          {texts.actions[action]}
        </Button>
      ))}
      <Button kind="quiet" aria-label={texts.of(texts.actions.delete, subject)} onClick={() => setDeleting(true)}>
        {texts.actions.delete}
      </Button>
      {isDeleting && (
        <Confirm
          title={texts.deleteTitle}
          action={texts.actions.delete}
          isDangerous
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            await api.DELETE("/v2/subscribers/{subscriberId}/notifications/{notificationId}", { params: { path } });
            notify(texts.done.delete);
            onDone();
          }}
        >
          <p>{texts.deleteText}</p>
        </Confirm>
      )}
    </div>
  );
}

async function send(action: Action, path: { subscriberId: string; notificationId: string }): Promise<void> {
  if (action === "snooze") {
    const snoozeUntil = new Date(Date.now() + HOUR).toISOString();
    await api.PATCH("/v2/subscribers/{subscriberId}/notifications/{notificationId}/snooze", {
      params: { path },
      body: { snoozeUntil },
    });
  } else {
    await api.PATCH(`/v2/subscribers/{subscriberId}/notifications/{notificationId}/${action}`, { params: { path } });
  }
}
