import { api, dataOf } from "../../../api/client.ts";
import { curlCommand } from "../../../api/curl.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { useUrlState } from "../../../api/url-state.ts";
import { Button } from "../../../ui/button.tsx";
import { writeCsv } from "../../../ui/csv.ts";
import { download } from "../../../ui/download.ts";
import { SelectField } from "../../../ui/field.tsx";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { CallChart } from "../../parts/calls/call-chart.tsx";
import { totalOf } from "../../parts/calls/counts.ts";
import { CallFigures } from "../../parts/calls/figures.tsx";
import { dayOf, lastDayOf, type Span } from "../../parts/calls/range.ts";
import { RangeFields, useRange } from "../../parts/calls/range-fields.tsx";
import { ChannelField } from "../../parts/channel-field.tsx";
import { useCan } from "../../session.ts";
import { texts as shellTexts } from "../../texts/shell.ts";
import { texts } from "../../texts/usage.ts";
import { MailUsage } from "./mail-usage.tsx";
import { CSV_COLUMNS, csvRows, type Grouping, type UsageItem } from "./model.ts";
import { UsageTable } from "./usage-table.tsx";

const CHANNELS = ["email", "sms", "push", "chat", "tool"] as const;

export default function UsagePage() {
  const url = useUrlState();
  const { span } = useRange("30d");
  const channel = url.get("channel");
  const by: Grouping = url.get("by") === "provider" ? "provider" : "channel";
  const usage = useLoaded(`usage ${span.after} ${span.before}`, async (signal) =>
    dataOf(await api.GET("/v1/usage", { params: { query: span }, signal })),
  );
  const items = usage.data?.data.filter((one) => channel === "" || one.channel === channel);
  return (
    <Page
      title={shellTexts.pages.usage}
      lead={texts.lead}
      actions={items && items.length > 0 && <Button onClick={() => save(items, span)}>{texts.download}</Button>}
    >
      <div class="toolbar">
        <RangeFields first="30d" />
        <ChannelField channels={CHANNELS} value={channel} onValue={(value) => url.set({ channel: value })} />
        <SelectField
          label={texts.by}
          value={by}
          options={(["channel", "provider"] as const).map((value) => ({ value, label: texts.groupings[value] }))}
          onValue={(value) => url.set({ by: value === "channel" ? "" : value })}
        />
      </div>
      {usage.error ? (
        <Problem error={usage.error} onRetry={usage.reload} />
      ) : items === undefined ? (
        <Loading lines={8} />
      ) : (
        <UsageContent items={items} span={span} by={by} />
      )}
      {(channel === "" || channel === "email") && <MailUsage span={span} />}
    </Page>
  );
}

function UsageContent({ items, span, by }: { items: readonly UsageItem[]; span: Span; by: Grouping }) {
  const canTrigger = useCan("events:write");
  if (items.length === 0) {
    return (
      <Empty title={texts.empty} {...(canTrigger && { command: curlCommand(TRIGGER) })}>
        <p class="quiet">{texts.emptyHint}</p>
      </Empty>
    );
  }
  return (
    <>
      <section class="panel stack" aria-label={texts.totals}>
        <CallFigures total={totalOf(items)} />
        <CallChart label={texts.chart} items={items} span={span} />
        {span.bucket === "day" && <p class="small quiet">{texts.days}</p>}
      </section>
      <UsageTable items={items} span={span} by={by} />
    </>
  );
}

const TRIGGER = {
  method: "POST",
  path: "/v1/events/trigger",
  body: { name: "welcome", to: { subscriberId: "ada", email: "ada@example.com" } },
};

function save(items: readonly UsageItem[], span: Span) {
  const name = texts.fileName(dayOf(span.after), lastDayOf(span));
  download(name, writeCsv(CSV_COLUMNS, csvRows(items)), "text/csv");
}
