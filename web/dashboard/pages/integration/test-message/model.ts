/** A test message: which addresses a channel needs, and what is sent. */
import type { components } from "../../../../api/schema.d.ts";

type TestMessageIn = components["schemas"]["TestMessageIn"];
type Channel = components["schemas"]["Channel"];

export type AddressName = "email" | "phone" | "deviceTokens" | "webhookUrl" | "channel";

export type TestValues = Record<AddressName | "subscriberId" | "subject" | "content", string>;

const ADDRESSES: Record<Channel, readonly AddressName[]> = {
  email: ["email"],
  sms: ["phone"],
  push: ["deviceTokens"],
  // Which one of them is needed depends on the provider.
  chat: ["webhookUrl", "channel", "phone"],
  tool: ["webhookUrl"],
  in_app: [],
};

export function addressesOf(channel: Channel): readonly AddressName[] {
  return ADDRESSES[channel];
}

/** Whether messages of a channel have a subject. */
export function hasSubject(channel: Channel): boolean {
  return channel === "email" || channel === "push";
}

/** What is sent: the addresses of the channel that were given, and a subscriber for the others. */
export function testMessageOf(channel: Channel, values: TestValues): TestMessageIn {
  const given = ADDRESSES[channel].filter((name) => values[name].trim() !== "");
  const to = Object.fromEntries(
    given.map((name) => [name, name === "deviceTokens" ? listLines(values[name]) : values[name].trim()]),
  );
  return {
    to,
    ...(values.subscriberId.trim() && { subscriberId: values.subscriberId.trim() }),
    ...(hasSubject(channel) && { subject: values.subject }),
    content: values.content,
  };
}

function listLines(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter(Boolean);
}
