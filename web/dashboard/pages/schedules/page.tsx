import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { api, dataOf } from "../../../api/client.ts";
import { curlCommand } from "../../../api/curl.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { useUrlState } from "../../../api/url-state.ts";
import { Button } from "../../../ui/button.tsx";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { Status } from "../../../ui/status.tsx";
import { Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { Pager, useCursor } from "../../parts/pager.tsx";
import { SearchBox } from "../../parts/search-box.tsx";
import { useAddress, useCan } from "../../session.ts";
import { texts } from "../../texts/schedules.ts";
import { CreateSchedule } from "./create-schedule.tsx";
import type { Schedule } from "./model.ts";
import { ScheduleState } from "./schedule-state.tsx";

const PAGE = 50;
const EXAMPLE = {
  identifier: "weekly",
  name: "Weekly report",
  workflowId: "weekly-report",
  to: { type: "Everyone" },
  cron: "0 9 * * 1",
  timezone: "subscriber",
};

export default function SchedulesPage() {
  const mayWrite = useCan("schedules:write");
  const mayTrigger = useCan("events:write");
  const canWrite = mayWrite && mayTrigger;
  const [isCreating, setCreating] = useState(false);
  const { route } = useLocation();
  const address = useAddress();
  const create = canWrite && (
    <Button kind="primary" onClick={() => setCreating(true)}>
      {texts.create}
    </Button>
  );
  return (
    <Page title={texts.title} lead={texts.lead} actions={create}>
      <div class="toolbar">
        <SearchBox label={texts.search} placeholder={texts.searchHint} />
      </div>
      <ScheduleList create={create} />
      {isCreating && (
        <CreateSchedule
          onClose={() => setCreating(false)}
          onCreated={(identifier) => route(address(`/schedules/${encodeURIComponent(identifier)}`))}
        />
      )}
    </Page>
  );
}

function ScheduleList({ create }: { create: preact.ComponentChildren }) {
  const text = useUrlState().get("q");
  const query = { ...useCursor(), limit: PAGE, ...(text && { search: text }) };
  const schedules = useLoaded(
    `schedules ${JSON.stringify(query)}`,
    async (signal) => dataOf(await api.GET("/v1/schedules", { params: { query }, signal })),
    { isKept: true },
  );
  if (schedules.error) {
    return <Problem error={schedules.error} onRetry={schedules.reload} />;
  }
  if (!schedules.data) {
    return <Loading lines={6} />;
  }
  if (schedules.data.totalCount === 0) {
    return text ? (
      <Empty title={texts.nothing(text)} />
    ) : (
      <Empty title={texts.empty} command={curlCommand({ method: "POST", path: "/v1/schedules", body: EXAMPLE })}>
        <p class="quiet">{texts.emptyHint}</p>
        {create}
      </Empty>
    );
  }
  return (
    <>
      <ScheduleTable schedules={schedules.data.data} />
      <Pager page={schedules.data} count={texts.count} />
    </>
  );
}

function ScheduleTable({ schedules }: { schedules: readonly Schedule[] }) {
  const address = useAddress();
  const columns = [
    {
      name: "name",
      title: texts.name,
      show: (row: Schedule) => (
        <>
          <a href={address(`/schedules/${encodeURIComponent(row.identifier)}`)}>
            <bdi>{row.name}</bdi>
          </a>
          <div class="small quiet">
            <code>{row.cron ?? row.rrule}</code>
          </div>
        </>
      ),
    },
    { name: "workflow", title: texts.workflow, show: (row: Schedule) => <bdi>{row.workflowId}</bdi> },
    { name: "status", title: texts.status, show: (row: Schedule) => <ScheduleState schedule={row} /> },
    {
      name: "next",
      title: texts.next,
      show: (row: Schedule) => (row.nextMoments[0] ? <Time at={row.nextMoments[0].at} /> : texts.never),
    },
    {
      name: "last",
      title: texts.last,
      show: (row: Schedule) =>
        row.lastRun ? (
          <>
            <Time at={row.lastRun.at} /> {row.lastRun.trouble && <Status tone="warn">{texts.trouble}</Status>}
          </>
        ) : (
          texts.never
        ),
    },
  ];
  return <Table label={texts.title} columns={columns} rows={schedules} rowKey={(row) => row._id} />;
}
