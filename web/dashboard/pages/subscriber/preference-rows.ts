/** What a person gets, as rows of switches with the layer that decides each. */
import type { components } from "../../../api/schema.d.ts";
import { preferenceTexts as texts } from "../../texts/subscriber.ts";

type WorkflowPreference = components["schemas"]["WorkflowPreference"];
type SubscriptionRule = components["schemas"]["SubscriptionRule"];
export type Channel = components["schemas"]["Channel"];

export const CHANNELS: readonly Channel[] = ["in_app", "email", "sms", "chat", "push", "tool"];

export type Switch = {
  channel: Channel;
  isOn: boolean;
  /** Who decides it, in words. */
  reason: string;
  canChange: boolean;
};

export type PreferenceRow = { workflowId: string; name: string; isCritical: boolean; switches: Switch[] };

/** The contexts of a text such as `tenant:acme, app:shop`; none while it is not complete. */
export function contextKeysOf(text: string): string[] {
  const keys = text
    .split(",")
    .map((key) => key.trim())
    .filter(Boolean);
  return keys.every((key) => /^[\w-]+:[\w.:@+=-]+$/.test(key)) ? keys : [];
}

/** The same as a member of a request. */
export function contextOf(keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    keys.map((key) => [key.slice(0, key.indexOf(":")), key.slice(key.indexOf(":") + 1)] as const),
  );
}

/** A row for each workflow by name; those that people cannot switch come last. */
export function preferenceRows(
  ordinary: readonly WorkflowPreference[],
  critical: readonly WorkflowPreference[],
): PreferenceRow[] {
  const byName = (one: PreferenceRow, other: PreferenceRow) => one.name.localeCompare(other.name);
  return [
    ...ordinary.map((one) => rowOf(one, false)).sort(byName),
    ...critical.map((one) => rowOf(one, true)).sort(byName),
  ];
}

function rowOf({ workflow, channels, overrides }: WorkflowPreference, isCritical: boolean): PreferenceRow {
  const switches = CHANNELS.flatMap((channel) => {
    const isOn = channels[channel];
    if (isOn === undefined) {
      return [];
    }
    const layer = overrides.find((one) => one.channel === channel)?.layer;
    const reason = isCritical ? texts.criticalWords : layer === undefined ? texts.noLayer : texts.layers[layer];
    return [{ channel, isOn, reason, canChange: !isCritical }];
  });
  return { workflowId: workflow.identifier, name: workflow.name, isCritical, switches };
}

/** The channels that any row has, in their usual order. */
export function usedChannels(rows: readonly PreferenceRow[]): Channel[] {
  return CHANNELS.filter((channel) => rows.some((row) => row.switches.some((one) => one.channel === channel)));
}

/** A rule of a subscription to a topic, in words. */
export function ruleWords(rule: SubscriptionRule): string {
  const what = [...rule.workflowIds, ...rule.tags.map(texts.tag)].join(", ");
  const state = !rule.enabled ? texts.ruleOff : rule.condition === undefined ? texts.ruleOn : texts.ruleIf;
  return texts.rule(what, state);
}
