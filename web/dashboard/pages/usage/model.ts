/** Usage as the page shows it: groups with totals, and lines of a file. */
import type { components } from "../../../api/schema.d.ts";
import { type CallItem, type CallTotal, totalOf } from "../../parts/calls/counts.ts";

export type UsageItem = components["schemas"]["UsageItem"];
export type Grouping = "channel" | "provider";

export type UsageGroup = {
  key: string;
  channel: UsageItem["channel"];
  /** None if the group is a whole channel. */
  providerId?: string;
  items: readonly CallItem[];
  total: CallTotal;
  /** Of all calls that are shown. */
  share: number;
};

/** The groups of a time, those with the most calls first. */
export function groupUsage(items: readonly UsageItem[], by: Grouping): UsageGroup[] {
  const found = new Map<string, UsageItem[]>();
  for (const one of items) {
    const key = by === "channel" ? one.channel : `${one.channel} ${one.providerId}`;
    found.set(key, [...(found.get(key) ?? []), one]);
  }
  const all = callsOf(totalOf(items)) || 1;
  return [...found]
    .map(([key, own]) => {
      const total = totalOf(own);
      const { channel, providerId } = own[0] as UsageItem;
      const share = callsOf(total) / all;
      return { key, channel, ...(by === "provider" && { providerId }), items: own, total, share };
    })
    .sort((one, other) => callsOf(other.total) - callsOf(one.total) || one.key.localeCompare(other.key));
}

export type MailUsageItem = components["schemas"]["MailUsageItem"];
export type MailGroup = Omit<MailUsageItem, "at">;

/** The reactions to e-mails of each workflow over all buckets, those with the most first. */
export function groupMails(items: readonly MailUsageItem[]): MailGroup[] {
  const found = new Map<string, MailGroup>();
  for (const { at: _, ...item } of items) {
    const before = found.get(item._workflowId) ?? { opened: 0, clicked: 0, replied: 0 };
    found.set(item._workflowId, {
      ...item,
      opened: before.opened + item.opened,
      clicked: before.clicked + item.clicked,
      replied: before.replied + item.replied,
    });
  }
  const sizeOf = ({ opened, clicked, replied }: MailGroup) => opened + clicked + replied;
  return [...found.values()].sort((one, other) => sizeOf(other) - sizeOf(one) || one.name.localeCompare(other.name));
}

export const CSV_COLUMNS = [
  "at",
  "channel",
  "provider",
  "sent",
  "failed",
  "averageMilliseconds",
  "slowestMilliseconds",
];

export function csvRows(items: readonly UsageItem[]): Record<string, string>[] {
  return items.map((one) => ({
    at: one.at,
    channel: one.channel,
    provider: one.providerId,
    sent: String(one.sent),
    failed: String(one.failed),
    averageMilliseconds: String(one.averageMilliseconds ?? ""),
    slowestMilliseconds: String(one.slowestMilliseconds ?? ""),
  }));
}

function callsOf({ sent, failed }: CallTotal): number {
  return sent + failed;
}
