/** Messages of other channels than email, as a person sees them: in previews, simulations, runs and the Outbox. */
import type { ComponentChildren } from "preact";
import type { components } from "../../api/schema.d.ts";
import { isSafeImage, readMarkers, type Span } from "../../inbox/formats.ts";
import { texts } from "../texts/messages.ts";
import type { MessageButton } from "./model.ts";

type InAppCardProps = {
  subject: ComponentChildren;
  body: ComponentChildren;
  buttons?: readonly MessageButton[];
  avatar?: string;
  when?: ComponentChildren;
  isUnread?: boolean;
  isImportant?: boolean;
  /** Below the buttons. */
  children?: ComponentChildren;
};

/** An in-app message, as the inbox element lists it. */
export function InAppCard(props: InAppCardProps) {
  const { subject, body, buttons = [], avatar = "", when, isUnread = false, isImportant = false, children } = props;
  return (
    <section class="message-card message-inbox" aria-label={texts.inApp}>
      {isUnread && <span class="message-unread" aria-hidden="true" />}
      <Avatar address={avatar} />
      <div class="message-inbox-content">
        {isImportant && <p class="small message-important">{texts.important}</p>}
        {subject && <strong dir="auto">{subject}</strong>}
        <p class="message-text" dir="auto">
          {body}
        </p>
        {when && <p class="small quiet">{when}</p>}
        {buttons.length > 0 && (
          <div class="row">
            {buttons.map(({ kind, label }) => (
              <span key={kind} class={`button button-${kind === "primary" ? "primary" : "plain"} message-button`}>
                {label}
              </span>
            ))}
          </div>
        )}
        {children}
      </div>
    </section>
  );
}

/** A text message on a phone, under the number that it goes to. */
export function SmsCard({ to, children }: { to: ComponentChildren; children: ComponentChildren }) {
  return (
    <section class="message-phone" aria-label={texts.sms}>
      {to && <p class="small quiet">{to}</p>}
      <p class="message-bubble" dir="auto">
        {children}
      </p>
    </section>
  );
}

type PushCardProps = { title: ComponentChildren; when?: ComponentChildren; children: ComponentChildren };

/** A push message on a phone. */
export function PushCard({ title, when, children }: PushCardProps) {
  return (
    <section class="message-phone" aria-label={texts.push}>
      <div class="message-push">
        <strong dir="auto">{title}</strong>
        <span class="small quiet">{when}</span>
        <p dir="auto">{children}</p>
      </div>
    </section>
  );
}

export function ChatCard({ children }: { children: ComponentChildren }) {
  return (
    <section class="message-card message-chat" aria-label={texts.chat}>
      <span class="message-avatar" aria-hidden="true">
        ✦
      </span>
      <p class="message-text" dir="auto">
        {children}
      </p>
    </section>
  );
}

type TextCardProps = {
  channel: components["schemas"]["Channel"];
  title: string;
  content: string;
  to: string;
  when?: ComponentChildren;
};

/** A message of which its texts alone are known. */
export function TextCard({ channel, title, content, to, when }: TextCardProps) {
  const text = content || <span class="quiet">{texts.noContent}</span>;
  switch (channel) {
    case "in_app":
      return <InAppCard subject={title && <Marked text={title} />} body={<Marked text={content} />} when={when} />;
    case "sms":
      return <SmsCard to={<bdi>{to}</bdi>}>{text}</SmsCard>;
    case "push":
      return (
        <PushCard title={title} when={when}>
          {text}
        </PushCard>
      );
    default:
      return <ChatCard>{text}</ChatCard>;
  }
}

/** A text with `**bold**` and `*italic*` parts, which only the inbox knows. */
export function Marked({ text }: { text: string }) {
  return <>{readMarkers(text).map(markedSpan)}</>;
}

function markedSpan(span: Span, place: number): preact.JSX.Element | string {
  const Tag = span.tag;
  return Tag === "" ? span.text : <Tag key={place}>{span.spans?.map(markedSpan)}</Tag>;
}

/** Pictures of other sites are not loaded: looking here must not tell them anything. */
function Avatar({ address }: { address: string }) {
  if (!isSafeImage(address)) {
    return null;
  }
  return /^(data:image\/|\/(?!\/))/.test(address) ? (
    <img class="message-avatar" src={address} alt="" />
  ) : (
    <span class="message-avatar" title={address}>
      <span class="visually-hidden">{texts.picture}</span>
      <span aria-hidden="true">☺</span>
    </span>
  );
}
