import { Frame } from "../../ui/frame.tsx";
import { Json } from "../../ui/json.tsx";
import { KeyValues } from "../../ui/key-values.tsx";
import { TabPanels } from "../../ui/tab-panels.tsx";
import { Time } from "../../ui/time.tsx";
import { texts } from "../texts/messages.ts";
import { InAppCard, Marked, TextCard } from "./cards.tsx";
import { buttonsOf, headOf, type Mail, type MessageDetail, recipientOf } from "./model.ts";

/** A message as it was sent, and what it is made of. */
export function MessageContent({ message }: { message: MessageDetail }) {
  if (message.mail) {
    return <MailContent mail={message.mail} to={message.email ?? ""} />;
  }
  const card = message.channel === "in_app" ? <Notification message={message} /> : <Text message={message} />;
  if (!message.data) {
    return card;
  }
  const panels = [
    { name: "view", label: texts.view, show: () => card },
    { name: "data", label: texts.data, show: () => <Json label={texts.data} value={message.data} /> },
  ];
  return <TabPanels label={texts.views} panels={panels} />;
}

function Notification({ message }: { message: MessageDetail }) {
  return (
    <InAppCard
      subject={message.subject && <Marked text={message.subject} />}
      body={<Marked text={message.content} />}
      buttons={buttonsOf(message)}
      when={<Time at={message.createdAt} />}
      isUnread={!message.read}
      isImportant={message.severity === "high"}
    />
  );
}

function Text({ message }: { message: MessageDetail }) {
  const { channel, content, createdAt } = message;
  return (
    <>
      <TextCard
        channel={channel}
        title={message.title || message.subject || ""}
        content={content}
        to={recipientOf(message)}
        when={<Time at={createdAt} />}
      />
      {channel === "sms" && <p class="small quiet">{texts.characters([...content].length)}</p>}
    </>
  );
}

function MailContent({ mail, to }: { mail: Mail; to: string }) {
  const { html } = mail;
  const views = [
    ...(html === undefined ? [] : [{ name: "view", label: texts.view, show: () => <Rendered html={html} /> }]),
    { name: "text", label: texts.text, show: () => <Plain label={texts.text} text={mail.text} /> },
    ...(html === undefined
      ? []
      : [{ name: "source", label: texts.source, show: () => <Plain label={texts.source} text={html} /> }]),
    {
      name: "headers",
      label: texts.headers,
      show: () => (
        <KeyValues
          values={[
            ...headOf(mail, to).map(({ label, value }) => [label, value] as const),
            [texts.subject, mail.subject] as const,
            [texts.attachments, mail.attachments.join(", ")] as const,
          ].map(([name, value]) => [name, value && <bdi key={name}>{value}</bdi>])}
        />
      ),
    },
  ];
  return <TabPanels label={texts.views} panels={views} />;
}

function Rendered({ html }: { html: string }) {
  return (
    <div class="stack message-rendered">
      <Frame title={texts.frame} html={html} />
      {/<img|url\(|background=/i.test(html) && <p class="small quiet">{texts.picturesHidden}</p>}
    </div>
  );
}

function Plain({ label, text }: { label: string; text: string }) {
  return (
    <section aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
      <pre class="message-plain" tabIndex={0}>
        {text}
      </pre>
    </section>
  );
}
