import { useLocation } from "preact-iso/router";
import { changeQuery } from "../../../api/url-state.ts";
import { More } from "../../../ui/more.tsx";
import { Time } from "../../../ui/time.tsx";
import { headlineOf, type Message, recipientOf } from "../../message/model.ts";
import { texts } from "../../texts/outbox.ts";
import { texts as runTexts } from "../../texts/runs.ts";
import type { Outbox } from "./loading.ts";

/** The messages, newest first, each with its address. */
export function MessageList({ outbox, shown }: { outbox: Outbox; shown: string }) {
  const { path, query } = useLocation();
  const hrefOf = (id: string) => `${path}?${changeQuery(new URLSearchParams(query), { message: id })}`;
  return (
    <nav class="outbox-list" aria-label={texts.list}>
      <ul>
        {outbox.messages.map((message) => (
          <li key={message._id}>
            <Line message={message} href={hrefOf(message._id)} isShown={message._id === shown} />
          </li>
        ))}
      </ul>
      <More pages={outbox.pages} />
    </nav>
  );
}

function Line({ message, href, isShown }: { message: Message; href: string; isShown: boolean }) {
  return (
    <a class="outbox-line" href={href} {...(isShown && { "aria-current": "true" as const })}>
      <span class="outbox-line-head">
        <bdi class="outbox-recipient">{recipientOf(message)}</bdi>
        <span class="small quiet">
          <Time at={message.createdAt} />
        </span>
      </span>
      <span class="outbox-headline">
        <bdi>{headlineOf(message)}</bdi>
      </span>
      <span class="small quiet">
        {runTexts.channels[message.channel]} · <bdi>{message.templateIdentifier}</bdi>
      </span>
    </a>
  );
}
