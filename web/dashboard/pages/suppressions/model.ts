/** Suppressed addresses as the page shows, exports and imports them. */
import type { components } from "../../../api/schema.d.ts";
import type { Tone } from "../../../ui/status.tsx";

export type Suppression = components["schemas"]["Suppression"];
export type SuppressedChannel = "email" | "sms";
type Reason = Suppression["reason"];

export const CHANNELS: readonly SuppressedChannel[] = ["email", "sms"];
export const REASONS: readonly Reason[] = ["bounced", "complained", "unsubscribed", "manual"];
export const REASON_TONES: Record<Reason, Tone> = {
  bounced: "bad",
  complained: "bad",
  unsubscribed: "warn",
  manual: "plain",
};

const HASHED = "sha256:";

/** Of an erased person only the hash of the address is left. */
export function isErased(address: string): boolean {
  return address.startsWith(HASHED);
}

/** The channel that an address belongs to, by how it looks. */
export function channelOf(address: string): SuppressedChannel {
  return address.includes("@") ? "email" : "sms";
}

export type Filters = { address: string; channel: string; reason: string };

/** What the list is asked for; an address is compared within its channel. */
export function queryOf({ address, channel, reason }: Filters): {
  address?: string;
  channel?: SuppressedChannel;
  reason?: Reason;
} {
  const text = address.trim();
  const wanted = CHANNELS.find((one) => one === channel) ?? (text ? channelOf(text) : undefined);
  const why = REASONS.find((one) => one === reason);
  return { ...(text && { address: text }), ...(wanted && { channel: wanted }), ...(why && { reason: why }) };
}

export function keyOf({ channel, address }: Pick<Suppression, "channel" | "address">): string {
  return `${channel} ${address}`;
}

export const CSV_COLUMNS = ["channel", "address", "reason", "detail", "provider", "createdAt"];

export function csvRow(one: Suppression): Record<string, string> {
  return {
    channel: one.channel,
    address: one.address,
    reason: one.reason,
    detail: one.detail ?? "",
    provider: one.providerId ?? "",
    createdAt: one.createdAt,
  };
}
