/** Integrations as the list shows them: by channel, and in the order in which they are tried. */
import type { components } from "../../../api/schema.d.ts";
import type { Tone } from "../../../ui/status.tsx";

export type Integration = components["schemas"]["Integration"];
export type IntegrationState = components["schemas"]["IntegrationState"];
export type Channel = Integration["channel"];

export const CHANNELS: readonly Channel[] = ["email", "sms", "push", "chat", "tool", "in_app"];

/** Channels whose integrations have a primary and an order; others send through each that the person has an entry for. */
export function isOrdered(channel: Channel): boolean {
  return channel === "email" || channel === "sms";
}

export type ChannelGroup = {
  channel: Channel;
  /** Those that messages go through, the first one first. */
  active: Integration[];
  inactive: Integration[];
};

export function groupByChannel(integrations: readonly Integration[]): ChannelGroup[] {
  return CHANNELS.map((channel) => {
    const own = integrations.filter((one) => one.channel === channel);
    return {
      channel,
      active: own.filter((one) => one.active).sort(compareOrder),
      inactive: own.filter((one) => !one.active),
    };
  });
}

export type HealthWord = "open" | "halfOpen" | "allFail" | "someFail" | "works" | "unused";

/** How an integration does, in one word: what its circuit breaker does first, then how its calls went. */
export function healthWord({ circuit, counts }: Pick<IntegrationState, "circuit" | "counts">): HealthWord {
  if (circuit.state !== "closed") {
    return circuit.state;
  }
  if (counts.failed > 0) {
    return counts.sent === 0 ? "allFail" : "someFail";
  }
  return counts.sent === 0 ? "unused" : "works";
}

export const HEALTH_TONES: Record<HealthWord, Tone> = {
  open: "bad",
  halfOpen: "warn",
  allFail: "bad",
  someFail: "warn",
  works: "good",
  unused: "plain",
};

/** The same list with one entry at another place; places beyond the ends are the ends. */
export function moveTo<One>(list: readonly One[], from: number, to: number): One[] {
  const rest = list.filter((_, index) => index !== from);
  const place = Math.min(Math.max(to, 0), rest.length);
  return [...rest.slice(0, place), ...list.slice(from, from + 1), ...rest.slice(place)];
}

/** The place of what is dragged, by the middles of the other rows from the top. */
export function placeAt(y: number, middles: readonly number[]): number {
  return middles.filter((middle) => middle < y).length;
}

function compareOrder(one: Integration, other: Integration): number {
  return Number(other.primary) - Number(one.primary) || other.priority - one.priority || (one._id < other._id ? -1 : 1);
}
