/** Which messages the outbox lists. */
import type { Message } from "../../message/model.ts";

export type Filter = { channel: "" | "email" | "sms"; recipient: string };

/** The filter of the address; what is no channel of the outbox counts as all of them. */
export function readFilter(get: (name: string) => string): Filter {
  const channel = get("channel");
  return { channel: channel === "email" || channel === "sms" ? channel : "", recipient: get("recipient").trim() };
}

/** Both lists as one, newest first, each message once: pages move while new messages come. */
export function newestFirst<One extends Pick<Message, "_id">>(newer: readonly One[], older: readonly One[]): One[] {
  const all = new Map([...newer, ...older].map((one) => [one._id, one]));
  // Ids begin with the time.
  return [...all.values()].sort((one, other) => (one._id < other._id ? 1 : -1));
}

/** The id beside another one in the list; at the ends there is none. */
export function neighbourOf(ids: readonly string[], id: string, step: 1 | -1): string | undefined {
  const place = ids.indexOf(id);
  return place < 0 ? ids[0] : ids[place + step];
}
