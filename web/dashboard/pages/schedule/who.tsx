import { useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { Button } from "../../../ui/button.tsx";
import { numberText } from "../../../ui/formats.ts";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { texts } from "../../texts/schedules.ts";
import type { Schedule } from "../schedules/model.ts";

type ZoneRow = components["schemas"]["SchedulePreviewItem"];

/** Who would get what is triggered next, and when, in each time zone; counted when it is asked for. */
export function Who({ schedule }: { schedule: Schedule }) {
  const [isAsked, setAsked] = useState(false);
  return (
    <section class="panel stack">
      <h2>{texts.who}</h2>
      {isAsked ? (
        <Zones key={schedule.updatedAt} schedule={schedule} />
      ) : (
        <div class="row">
          <Button onClick={() => setAsked(true)}>{texts.whoAction}</Button>
        </div>
      )}
    </section>
  );
}

function Zones({ schedule }: { schedule: Schedule }) {
  const params = { path: { scheduleKey: schedule.identifier } };
  const preview = useLoaded(`schedule ${schedule.identifier} ${schedule.updatedAt} who`, async (signal) =>
    dataOf(await api.GET("/v1/schedules/{scheduleKey}/preview", { params, signal })),
  );
  if (preview.error !== undefined) {
    return <Problem error={preview.error} onRetry={preview.reload} />;
  }
  if (!preview.data) {
    return <Loading lines={3} />;
  }
  const without = schedule.timezone === "subscriber" ? texts.withoutZone : texts.all;
  const columns = [
    { name: "zone", title: texts.zone, show: (row: ZoneRow) => row.timezone ?? without },
    { name: "at", title: texts.moment, show: (row: ZoneRow) => <Time at={row.at} /> },
    { name: "local", title: texts.local, show: (row: ZoneRow) => row.local.replace("T", " ") },
    { name: "people", title: texts.people, kind: "number" as const, show: (row: ZoneRow) => numberText(row.people) },
  ];
  return (
    <>
      <p class="quiet small">
        {texts.whoHint} {!preview.data.isWhole && texts.isPart}
      </p>
      {preview.data.zones.length === 0 ? (
        <p class="quiet">{texts.noMoments}</p>
      ) : (
        <Table label={texts.who} columns={columns} rows={preview.data.zones} rowKey={(row) => row.timezone ?? ""} />
      )}
    </>
  );
}
