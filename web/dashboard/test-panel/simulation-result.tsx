import type { components } from "../../api/schema.d.ts";
import { momentText } from "../../ui/formats.ts";
import { Frame } from "../../ui/frame.tsx";
import { KeyValues } from "../../ui/key-values.tsx";
import { TextCard } from "../message/cards.tsx";
import { Decisions } from "../parts/decisions.tsx";
import { texts as runTexts } from "../texts/runs.ts";
import { texts } from "../texts/test-panel.ts";

type Simulation = components["schemas"]["Simulation"];
type Message = components["schemas"]["SimulatedMessage"];

/** What would happen, decision by decision, and the messages that would be sent. */
export function SimulationResult({ simulation, isOutdated }: { simulation: Simulation; isOutdated: boolean }) {
  const { status, error, at, until, recipients, complete } = simulation;
  return (
    <div class="stack" aria-live="polite">
      {isOutdated && <p class="test-outdated small">{texts.outdated}</p>}
      {status !== "processed" && <p class="field-problem">{texts.would(texts.outcomes[status])}</p>}
      {error?.map((sentence) => (
        <p key={sentence} class="field-problem">
          {sentence}
        </p>
      ))}
      {!complete && <p class="field-problem">{texts.notComplete}</p>}
      <KeyValues
        values={[
          [texts.at, momentText(at, "exact")],
          [texts.until, momentText(until, "exact")],
        ]}
      />
      {recipients.length === 0 && <p class="quiet">{texts.noRecipients}</p>}
      {recipients.map((recipient) => (
        <div key={recipient.subscriberId} class="stack">
          <h3>{texts.decisions}</h3>
          <Decisions decisions={recipient.decisions} />
          <h3>{texts.messages(recipient.messages.length)}</h3>
          {recipient.messages.length === 0 ? (
            <p class="quiet">{texts.noMessages}</p>
          ) : (
            recipient.messages.map((message, place) => <SimulatedMessage key={place} message={message} />)
          )}
        </div>
      ))}
    </div>
  );
}

function SimulatedMessage({ message }: { message: Message }) {
  const channel = runTexts.channels[message.channel];
  return (
    <details class="test-message">
      <summary>
        <strong>{texts.messageTo(channel, message.to)}</strong>{" "}
        <span class="small quiet">
          {momentText(message.at, "exact")} {message.integration && texts.through(message.integration)}
        </span>
      </summary>
      <div class="stack test-circumstances">
        {message.channel === "email" ? (
          <>
            <p dir="auto">
              <strong>{message.subject}</strong>
            </p>
            <Frame title={texts.content(channel)} html={message.content} />
          </>
        ) : (
          <TextCard {...message} title={message.subject ?? ""} />
        )}
      </div>
    </details>
  );
}
