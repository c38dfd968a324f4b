import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso/router";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { momentText } from "../../../ui/formats.ts";
import { KeyValues } from "../../../ui/key-values.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { useAddress, useCan } from "../../session.ts";
import { texts } from "../../texts/schedules.ts";
import { type Schedule, shortRecipients } from "../schedules/model.ts";
import { ScheduleState } from "../schedules/schedule-state.tsx";
import { EditSchedule } from "./edit-schedule.tsx";
import { ScheduleRuns } from "./runs.tsx";
import { Who } from "./who.tsx";

export default function SchedulePage() {
  const scheduleKey = useRoute().params.scheduleKey ?? "";
  const address = useAddress();
  const params = { path: { scheduleKey } };
  const loaded = useLoaded(`schedule ${scheduleKey}`, async (signal) =>
    dataOf(await api.GET("/v1/schedules/{scheduleKey}", { params, signal })),
  );
  const canReadRuns = useCan("events:read");
  const schedule = loaded.data;
  return (
    <Page
      title={schedule?.name ?? scheduleKey}
      back={{ href: address("/schedules"), label: texts.toList }}
      lead={<code>{scheduleKey}</code>}
      actions={schedule && <Actions schedule={schedule} onChanged={loaded.reload} />}
    >
      {loaded.error !== undefined && <Problem error={loaded.error} onRetry={loaded.reload} />}
      {!schedule && loaded.error === undefined && <Loading lines={6} />}
      {schedule && (
        <>
          <Facts schedule={schedule} />
          <NextMoments schedule={schedule} />
          <Who schedule={schedule} />
          {canReadRuns && <ScheduleRuns identifier={scheduleKey} />}
        </>
      )}
    </Page>
  );
}

function Actions({ schedule, onChanged }: { schedule: Schedule; onChanged: () => Promise<void> }) {
  const mayWrite = useCan("schedules:write");
  const mayTrigger = useCan("events:write");
  const [open, setOpen] = useState<"edit" | "delete" | null>(null);
  const { route } = useLocation();
  const address = useAddress();
  const params = { path: { scheduleKey: schedule.identifier } };
  const toggling = useAction(async () => {
    await api.PATCH("/v1/schedules/{scheduleKey}", { params, body: { paused: !schedule.paused } });
    notify(schedule.paused ? texts.resumed : texts.paused);
    await onChanged();
  });
  if (!mayWrite) {
    return null;
  }
  return (
    <>
      {mayTrigger && (
        <>
          <Button onClick={() => setOpen("edit")}>{texts.edit}</Button>
          <Button busy={toggling.isBusy} onClick={() => toggling.run()}>
            {schedule.paused ? texts.resume : texts.pause}
          </Button>
        </>
      )}
      <Button kind="danger" onClick={() => setOpen("delete")}>
        {texts.remove}
      </Button>
      {toggling.error !== null && <Problem error={toggling.error} />}
      {open === "edit" && <EditSchedule schedule={schedule} onClose={() => setOpen(null)} onSaved={onChanged} />}
      {open === "delete" && (
        <Confirm
          title={texts.removeTitle}
          action={texts.remove}
          isDangerous
          onClose={() => setOpen(null)}
          onConfirm={async () => {
            await api.DELETE("/v1/schedules/{scheduleKey}", { params });
            notify(texts.removed);
            route(address("/schedules"));
          }}
        >
          <p>{texts.removeHint}</p>
        </Confirm>
      )}
    </>
  );
}

function Facts({ schedule }: { schedule: Schedule }) {
  const address = useAddress();
  const to = shortRecipients(schedule.to);
  const isOfPerson = schedule.timezone === "subscriber";
  const payload = JSON.stringify(schedule.payload);
  return (
    <section class="panel stack">
      <KeyValues
        values={[
          [texts.status, <ScheduleState key="status" schedule={schedule} />],
          [
            texts.workflow,
            <a key="workflow" href={address(`/workflows/${encodeURIComponent(schedule.workflowId)}`)}>
              {schedule.workflowId}
            </a>,
          ],
          [
            texts.to,
            to.kind === "nobody" ? (
              texts.nobody
            ) : to.kind === "everyone" ? (
              texts.toKinds.everyone
            ) : (
              <bdi>{to.text}</bdi>
            ),
          ],
          [texts.rule, <code key="rule">{schedule.cron ?? schedule.rrule}</code>],
          [
            texts.timezone,
            isOfPerson
              ? `${texts.ofPersonShort} (${texts.fallbackShort(schedule.fallbackTimezone)})`
              : schedule.timezone,
          ],
          [texts.from, schedule.from && momentText(schedule.from, "exact")],
          [texts.until, schedule.until && momentText(schedule.until, "exact")],
          [texts.catchUp, texts.catchUps[schedule.catchUp]],
          [texts.payload, payload === "{}" ? "" : <code key="payload">{payload}</code>],
        ]}
      />
    </section>
  );
}

function NextMoments({ schedule }: { schedule: Schedule }) {
  const columns = [
    {
      name: "local",
      title: texts.local,
      show: (row: Schedule["nextMoments"][number]) => row.local.replace("T", " "),
    },
    { name: "at", title: texts.moment, show: (row: Schedule["nextMoments"][number]) => <Time at={row.at} /> },
  ];
  return (
    <section class="stack">
      <h2>{texts.nextMoments}</h2>
      {schedule.nextMoments.length === 0 ? (
        <p class="quiet">{texts.noMoments}</p>
      ) : (
        <Table label={texts.nextMoments} columns={columns} rows={schedule.nextMoments} rowKey={(row) => row.at} />
      )}
    </section>
  );
}
