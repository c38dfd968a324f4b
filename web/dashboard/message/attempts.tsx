import { durationText } from "../../ui/formats.ts";
import { Json } from "../../ui/json.tsx";
import { Time } from "../../ui/time.tsx";
import { Timeline, type TimelineEntry } from "../../ui/timeline.tsx";
import { texts } from "../texts/messages.ts";
import type { MessageDetail, SendAttempt } from "./model.ts";

/** Every attempt to hand the message to a provider, and what the provider reported afterwards. */
export function Attempts({ message }: { message: MessageDetail }) {
  return (
    <>
      <section class="stack message-part">
        <h4>{texts.attempts}</h4>
        {message.attempts.length > 0 ? (
          <Timeline label={texts.attempts} entries={message.attempts.map(attemptEntry)} />
        ) : (
          <p class="quiet">{message.deliveredAt?.length ? texts.attemptsDeleted : texts.noAttempts}</p>
        )}
        <NextAttempt message={message} />
      </section>
      {message.receipts.length > 0 && (
        <section class="stack message-part">
          <h4>{texts.receipts}</h4>
          <Timeline label={texts.receipts} entries={message.receipts.map(receiptEntry)} />
        </section>
      )}
    </>
  );
}

function NextAttempt({ message }: { message: MessageDetail }) {
  const [words, at] = message.retryAt ? [texts.retryAt, message.retryAt] : [texts.givenUpAt, message.givenUpAt];
  if (!at) {
    return null;
  }
  return (
    <p class="small">
      {words} <Time at={at} />
    </p>
  );
}

function attemptEntry(attempt: SendAttempt, place: number): TimelineEntry {
  return {
    id: String(place),
    tone: attempt.success ? "good" : "bad",
    at: attempt.at,
    title: (
      <>
        {attempt.success ? texts.accepted : texts.refused}
        {attempt.integration && <> {texts.through(attempt.integration)}</>}
        {attempt.milliseconds !== undefined && <span class="quiet"> · {durationText(attempt.milliseconds)}</span>}
        {attempt.error && <span class="message-error">{attempt.error}</span>}
      </>
    ),
    details:
      attempt.answer === undefined ? (
        <p class="quiet">{texts.noAnswer}</p>
      ) : (
        <Json label={texts.answer} value={attempt.answer} />
      ),
  };
}

function receiptEntry(receipt: MessageDetail["receipts"][number], place: number): TimelineEntry {
  const isBad = receipt.status === "Failed";
  return {
    id: String(place),
    tone: isBad ? "bad" : receipt.status === "Warning" ? "warn" : "good",
    at: receipt.at,
    title: receipt.detail,
    ...(receipt.report !== undefined && { details: <Json label={texts.report} value={receipt.report} /> }),
  };
}
