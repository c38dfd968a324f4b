import { useEffect, useRef } from "preact/hooks";
import type { components } from "../../api/schema.d.ts";
import { durationText } from "../../ui/formats.ts";
import { Json } from "../../ui/json.tsx";
import { KeyValues } from "../../ui/key-values.tsx";
import { Status } from "../../ui/status.tsx";
import { texts } from "../texts/integration-health.ts";

/** What the provider made of a test message, in its own words. */
export function TestResult({ result }: { result: components["schemas"]["TestMessage"] }) {
  const element = useRef<HTMLElement>(null);
  useEffect(() => element.current?.focus(), [result]);
  const { success, error, answer, providerMessageId, milliseconds } = result;
  const time = durationText(milliseconds);
  return (
    <section ref={element} class="test-result stack" tabIndex={-1} aria-label={texts.result}>
      <p>
        <Status tone={success ? "good" : "bad"}>{success ? texts.accepted(time) : texts.refused(time)}</Status>
      </p>
      {error && (
        <p>
          <strong>{texts.kinds[error.kind]}:</strong> <bdi>{error.message}</bdi>{" "}
          {error.retryAfter !== undefined && texts.retryAfter(error.retryAfter)}
        </p>
      )}
      <KeyValues values={[[texts.messageId, providerMessageId && <code>{providerMessageId}</code>]]} />
      {answer === undefined || answer === null ? (
        <p class="small quiet">{texts.noAnswer}</p>
      ) : (
        <>
          <h3>{texts.answer}</h3>
          <Json label={texts.answer} value={answer} />
        </>
      )}
    </section>
  );
}
