import { Json } from "../../../ui/json.tsx";
import { KeyValues } from "../../../ui/key-values.tsx";
import { Status } from "../../../ui/status.tsx";
import { Time } from "../../../ui/time.tsx";
import { Timeline } from "../../../ui/timeline.tsx";
import { nameOfProvider, useProviders } from "../../parts/providers.ts";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/dead-letters.ts";
import { texts as runTexts } from "../../texts/runs.ts";
import { DETAIL_TONES, type DeadLetterDetail, valuesOf } from "./model.ts";

/** What is known about a dead letter: what it is about, its messages, and what happened. */
export function LetterFacts({ letter }: { letter: DeadLetterDetail }) {
  const address = useAddress();
  const providers = useProviders();
  return (
    <>
      {letter.possiblyDelivered && (
        <p>
          <Status tone="warn">{texts.maybe}</Status> {texts.maybeHint}
        </p>
      )}
      <KeyValues
        values={[
          [texts.errors, letter.errors.map((error) => <bdi key={error}>{error}</bdi>)],
          [
            texts.person,
            <a key="person" href={address(`/subscribers/${encodeURIComponent(letter.subscriberId)}`)}>
              <bdi>{letter.subscriberId}</bdi>
            </a>,
          ],
          [
            texts.workflow,
            <a key="workflow" href={address(`/workflows/${encodeURIComponent(letter.workflowId)}`)}>
              {letter.workflowId}
            </a>,
          ],
          [texts.channel, runTexts.channels[letter.channel]],
          [texts.provider, letter.providerId && nameOfProvider(providers.data, letter.providerId)],
          [texts.attempts, texts.countOf(letter.attempts)],
          [texts.transaction, <code key="transaction">{letter.transactionId}</code>],
          [texts.created, <Time key="created" at={letter.createdAt} />],
          [texts.when, <Time key="when" at={letter.diedAt} />],
        ]}
      />
      <LetterMessages letter={letter} />
      <LetterDetails letter={letter} />
    </>
  );
}

function LetterMessages({ letter }: { letter: DeadLetterDetail }) {
  const providers = useProviders();
  const address = useAddress();
  if (letter.messages.length === 0) {
    return null;
  }
  return (
    <>
      <h3>{texts.messages}</h3>
      <ul class="dead-letters-messages">
        {letter.messages.map((one) => (
          <li key={one._id}>
            {one.providerId && one._integrationId && (
              <a href={address(`/integrations/${one._integrationId}`)}>
                {nameOfProvider(providers.data, one.providerId)}
              </a>
            )}{" "}
            <bdi>{one.errorText}</bdi> {one.givenUpAt && <Time at={one.givenUpAt} />}
          </li>
        ))}
      </ul>
    </>
  );
}

function LetterDetails({ letter }: { letter: DeadLetterDetail }) {
  const entries = letter.executionDetails.map((one) => {
    const values = valuesOf(one.raw);
    return {
      id: one._id,
      tone: DETAIL_TONES[one.status],
      title: one.detail,
      at: one.createdAt,
      ...(values !== undefined && { details: <Json label={texts.values} value={values} /> }),
    };
  });
  return (
    <>
      <h3>{texts.details}</h3>
      <Timeline label={texts.details} entries={entries} />
    </>
  );
}
