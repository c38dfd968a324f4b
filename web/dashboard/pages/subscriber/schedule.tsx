import { useEffect, useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { Button } from "../../../ui/button.tsx";
import { CheckField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { useCan } from "../../session.ts";
import { scheduleTexts as texts } from "../../texts/subscriber.ts";
import { DayRow } from "./day-row.tsx";
import type { PartProps } from "./part.ts";
import { DAYS, type Day, type DayPlan, scheduleOf, type Week, weekOf } from "./week.ts";

/** The hours in which a person wants messages, day by day. */
export function SchedulePart({ subscriber }: PartProps) {
  const canWrite = useCan("preferences:write");
  const path = { subscriberId: subscriber.subscriberId };
  const loaded = useLoaded(`schedule ${subscriber._id}`, async (signal) => ({
    schedule: dataOf(await api.GET("/v2/subscribers/{subscriberId}/preferences", { params: { path }, signal })).global
      .schedule,
  }));
  const [isEnabled, setEnabled] = useState(false);
  const [week, setWeek] = useState<Week>(weekOf(undefined));
  useEffect(() => {
    if (loaded.data) {
      setEnabled(loaded.data.schedule?.isEnabled ?? false);
      setWeek(weekOf(loaded.data.schedule));
    }
  }, [loaded.data]);
  const saving = useAction(async () => {
    await api.PATCH("/v2/subscribers/{subscriberId}/preferences", {
      params: { path },
      body: { schedule: scheduleOf(week, isEnabled) },
    });
    notify(texts.saved);
    loaded.reload();
  });
  if (loaded.error) {
    return <Problem error={loaded.error} onRetry={loaded.reload} />;
  }
  if (!loaded.data) {
    return <Loading lines={8} />;
  }
  const change = (day: Day, plan: DayPlan) => setWeek((now) => ({ ...now, [day]: plan }));
  return (
    <Form class="stack people-narrow" action={saving} submit={canWrite ? texts.save : undefined}>
      <p class="quiet">
        {texts.hint} {subscriber.timezone ? texts.zone(subscriber.timezone) : texts.noZone}
      </p>
      <CheckField
        isSwitch
        label={texts.isEnabled}
        checked={isEnabled}
        disabled={!canWrite}
        onChecked={setEnabled}
        hint={isEnabled ? undefined : texts.isDisabled}
      />
      {isEnabled && (
        <div class="panel stack">
          {DAYS.map((day) => (
            <DayRow key={day} day={day} plan={week[day]} canWrite={canWrite} onPlan={(plan) => change(day, plan)} />
          ))}
          {canWrite && (
            <div class="row">
              <Button
                kind="quiet"
                onClick={() => setWeek((now) => Object.fromEntries(DAYS.map((day) => [day, now.monday])) as Week)}
              >
                {texts.copy}
              </Button>
            </div>
          )}
        </div>
      )}
    </Form>
  );
}
