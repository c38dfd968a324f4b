/** What is shown of a message. */
import type { components } from "../../api/schema.d.ts";
import { plainText } from "../../inbox/formats.ts";
import type { Tone } from "../../ui/status.tsx";
import { texts } from "../texts/messages.ts";

export type Message = components["schemas"]["Message"];
export type MessageDetail = components["schemas"]["MessageDetail"];
export type Mail = components["schemas"]["Mail"];
export type SendAttempt = components["schemas"]["SendAttempt"];

export const MESSAGE_TONES: Record<Message["status"], Tone> = { sent: "good", error: "bad", warning: "warn" };

/** Where it went: an address, a number, devices, or the person's own webhook. */
export function recipientOf(message: Message): string {
  if (message.email || message.phone) {
    return message.email ?? message.phone ?? "";
  }
  if (message.deviceTokens?.length) {
    return texts.devices(message.deviceTokens.length);
  }
  return message.directWebhookUrl ? texts.personalWebhook : "";
}

/** One line that stands for the message: its subject or title, or else how it begins. */
export function headlineOf(message: Pick<Message, "subject" | "title" | "content" | "channel">): string {
  const line = message.subject || message.title || (message.channel === "email" ? "" : message.content);
  const shown = message.channel === "in_app" ? plainText(line) : line;
  return shown.replaceAll(/\s+/g, " ").trim() || texts.noSubject;
}

export type MessageButton = { kind: "primary" | "secondary"; label: string };

/** The buttons of an in-app message. */
export function buttonsOf(message: Pick<Message, "cta">): MessageButton[] {
  const action = message.cta.action as { buttons?: { type: string; content: string }[] } | undefined;
  return (action?.buttons ?? []).map((button) => ({
    kind: button.type === "primary" ? "primary" : "secondary",
    label: button.content,
  }));
}

export type MailHead = Pick<Mail, "from" | "senderName"> &
  Partial<Pick<Mail, "toOthers" | "cc" | "bcc" | "replyTo" | "headers">>;
/** One line of the head of a mail; `path` is that of the control of an e-mail step that it comes from. */
export type HeadLine = { path: string; label: string; value: string };

/** Sender, recipients and headers of a mail, as far as Clarion makes them. */
export function headOf(mail: MailHead, to: string): HeadLine[] {
  const sender = mail.senderName && mail.from ? `${mail.senderName} <${mail.from}>` : mail.from || mail.senderName;
  const lines = [
    { path: "from", label: texts.from, value: sender || texts.fromIntegration },
    { path: "to", label: texts.to, value: to },
    ...(["toOthers", "cc", "bcc", "replyTo"] as const).map((path) => ({
      path,
      label: texts[path],
      value: (mail[path] ?? []).join(", "),
    })),
    ...Object.entries(mail.headers ?? {}).map(([label, value]) => ({ path: `headers.${label}`, label, value })),
  ];
  return lines.filter(({ value }) => value !== "");
}
