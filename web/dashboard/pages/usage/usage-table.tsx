import { durationText, numberText, percentText } from "../../../ui/formats.ts";
import { type Column, Table } from "../../../ui/table.tsx";
import { CallTrend } from "../../parts/calls/call-chart.tsx";
import { failureRate } from "../../parts/calls/counts.ts";
import type { Span } from "../../parts/calls/range.ts";
import { nameOfProvider, useProviders } from "../../parts/providers.ts";
import { texts as callTexts } from "../../texts/calls.ts";
import { texts as runTexts } from "../../texts/runs.ts";
import { texts } from "../../texts/usage.ts";
import { type Grouping, groupUsage, type UsageGroup, type UsageItem } from "./model.ts";

/** A line for each channel or provider. */
export function UsageTable({ items, span, by }: { items: readonly UsageItem[]; span: Span; by: Grouping }) {
  const providers = useProviders();
  const first: Column<UsageGroup>[] =
    by === "channel"
      ? [{ name: "channel", title: texts.channel, show: (one) => runTexts.channels[one.channel] }]
      : [
          {
            name: "provider",
            title: texts.provider,
            show: (one) => nameOfProvider(providers.data, one.providerId ?? ""),
          },
          { name: "channel", title: texts.channel, show: (one) => runTexts.channels[one.channel] },
        ];
  const columns: Column<UsageGroup>[] = [
    ...first,
    { name: "sent", title: callTexts.sent, kind: "number", show: (one) => numberText(one.total.sent) },
    { name: "failed", title: callTexts.failed, kind: "number", show: (one) => numberText(one.total.failed) },
    {
      name: "rate",
      title: callTexts.failureRate,
      kind: "number",
      show: (one) => percentText(failureRate(one.total) ?? 0),
    },
    { name: "share", title: texts.share, kind: "number", show: (one) => percentText(one.share) },
    { name: "average", title: callTexts.average, kind: "number", show: (one) => durationText(one.total.average ?? 0) },
    { name: "slowest", title: callTexts.slowest, kind: "number", show: (one) => durationText(one.total.slowest ?? 0) },
    { name: "trend", title: texts.trend, show: (one) => <CallTrend items={one.items} span={span} /> },
  ];
  return <Table label={texts.table} columns={columns} rows={groupUsage(items, by)} rowKey={(one) => one.key} />;
}
