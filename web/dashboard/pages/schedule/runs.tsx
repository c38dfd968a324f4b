import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { numberText } from "../../../ui/formats.ts";
import { Problem } from "../../../ui/problem.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { Status } from "../../../ui/status.tsx";
import { Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/schedules.ts";

type ScheduleRun = components["schemas"]["CountedScheduleRun"];

/** What a schedule did last. */
export function ScheduleRuns({ identifier }: { identifier: string }) {
  const address = useAddress();
  const params = { path: { scheduleKey: identifier }, query: { limit: 20 } };
  const runs = useLoaded(`schedule ${identifier} runs`, async (signal) =>
    dataOf(await api.GET("/v1/schedules/{scheduleKey}/runs", { params, signal })),
  );
  const columns = [
    { name: "moment", title: texts.moment, show: (row: ScheduleRun) => <Time at={row.moment} /> },
    { name: "zone", title: texts.zone, show: (row: ScheduleRun) => row.timezone ?? texts.never },
    {
      name: "transaction",
      title: texts.transaction,
      show: (row: ScheduleRun) => (
        <>
          {row.transactionId && (
            <a href={address(`/activity?transactionId=${encodeURIComponent(row.transactionId)}`)}>
              {texts.transaction}
            </a>
          )}{" "}
          {row.trouble && <Status tone="warn">{row.trouble}</Status>}
        </>
      ),
    },
    {
      name: "people",
      title: texts.people,
      kind: "number" as const,
      show: (row: ScheduleRun) => `${numberText(row.people)}${row.peopleCapped ? "+" : ""}`,
    },
  ];
  return (
    <section class="stack">
      <h2>{texts.runs}</h2>
      {runs.error !== undefined && <Problem error={runs.error} onRetry={runs.reload} />}
      {!runs.data && runs.error === undefined && <Loading lines={3} />}
      {runs.data?.data.length === 0 && <Empty title={texts.noRuns} />}
      {runs.data && runs.data.data.length > 0 && (
        <Table
          label={texts.runs}
          columns={columns}
          rows={runs.data.data}
          rowKey={(row) => `${row.moment} ${row.timezone ?? ""}`}
        />
      )}
    </section>
  );
}
