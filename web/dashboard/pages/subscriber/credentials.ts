/** What a person can have at a provider of chat or push, as forms ask for it. */
import type { components } from "../../../api/schema.d.ts";

export type Integration = components["schemas"]["Integration"];
export type ChannelEntry = components["schemas"]["SubscriberChannel"];
type Credentials = components["schemas"]["ChannelCredentials"];
export type CredentialName = Exclude<keyof Credentials, "deviceTokens">;

const CHAT: readonly CredentialName[] = ["webhookUrl", "channel"];
const OF_PROVIDER: Record<string, readonly CredentialName[]> = {
  "grafana-on-call": ["webhookUrl", "alertUid", "title", "imageUrl", "state", "externalUrl"],
};

/** The fields that a form asks for, besides device tokens. */
export function credentialNames(integration: Pick<Integration, "channel" | "providerId">): readonly CredentialName[] {
  return integration.channel === "push" ? [] : (OF_PROVIDER[integration.providerId] ?? CHAT);
}

/** Integrations that people have accounts or devices at. */
export function withAccounts(integrations: readonly Integration[]): Integration[] {
  return integrations.filter((one) => one.active && (one.channel === "push" || one.channel === "chat"));
}

/** What was typed, without what was left empty; null if that is all. */
export function givenCredentials(texts: Partial<Record<CredentialName, string>>, tokens: string): Credentials | null {
  const given: Credentials = {};
  for (const [name, text] of Object.entries(texts)) {
    if (text.trim() !== "") {
      given[name as CredentialName] = text.trim();
    }
  }
  const deviceTokens = [...new Set(tokens.split(/\s+/).filter(Boolean))];
  if (deviceTokens.length > 0) {
    given.deviceTokens = deviceTokens;
  }
  return Object.keys(given).length === 0 ? null : given;
}

export function tokensOf(entry: ChannelEntry): string[] {
  const tokens = entry.credentials.deviceTokens;
  return Array.isArray(tokens) ? tokens.map(String) : [];
}

/** The other credentials of an entry, by name. */
export function otherCredentials(entry: ChannelEntry): [string, string][] {
  return Object.entries(entry.credentials)
    .filter(([name]) => name !== "deviceTokens")
    .map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]);
}

/** What stays of an entry without one of its devices. */
export function withoutToken(entry: ChannelEntry, token: string): Credentials {
  return { ...entry.credentials, deviceTokens: tokensOf(entry).filter((one) => one !== token) };
}
