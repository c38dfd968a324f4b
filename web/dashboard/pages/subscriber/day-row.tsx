import { Button } from "../../../ui/button.tsx";
import { CheckField } from "../../../ui/field.tsx";
import { scheduleTexts as texts } from "../../texts/subscriber.ts";
import { type Day, type DayPlan, type Hours, isOvernight, WORKING_HOURS } from "./week.ts";

type DayRowProps = { day: Day; plan: DayPlan; canWrite: boolean; onPlan: (plan: DayPlan) => void };

/** A day of the week: whether messages are wanted, and in which hours. */
export function DayRow({ day, plan, canWrite, onPlan }: DayRowProps) {
  const name = texts.days[day];
  const setHours = (hours: readonly Hours[]) => onPlan({ ...plan, hours });
  return (
    <div class="schedule-day">
      <CheckField
        label={name}
        checked={plan.isEnabled}
        disabled={!canWrite}
        onChecked={(isEnabled) => onPlan({ ...plan, isEnabled })}
      />
      <div class="stack schedule-hours">
        {!plan.isEnabled && <span class="quiet">{texts.noMessages}</span>}
        {plan.isEnabled && plan.hours.length === 0 && <span>{texts.allDay}</span>}
        {plan.isEnabled &&
          plan.hours.map((hours, index) => (
            <HoursRow
              key={index}
              name={name}
              hours={hours}
              canWrite={canWrite}
              onHours={(changed) => setHours(plan.hours.map((one, at) => (at === index ? changed : one)))}
              onRemove={() => setHours(plan.hours.filter((_, at) => at !== index))}
            />
          ))}
      </div>
      {canWrite && plan.isEnabled && (
        <Button
          kind="quiet"
          aria-label={texts.addHoursOf(name)}
          onClick={() => setHours([...plan.hours, WORKING_HOURS])}
        >
          {texts.addHours}
        </Button>
      )}
    </div>
  );
}

type HoursRowProps = {
  name: string;
  hours: Hours;
  canWrite: boolean;
  onHours: (hours: Hours) => void;
  onRemove: () => void;
};

function HoursRow({ name, hours, canWrite, onHours, onRemove }: HoursRowProps) {
  const field = (part: keyof Hours, label: string) => (
    <input
      class="input schedule-time"
      type="time"
      required
      aria-label={label}
      value={hours[part]}
      disabled={!canWrite}
      onInput={(event) => onHours({ ...hours, [part]: event.currentTarget.value })}
    />
  );
  return (
    <span class="row">
      {field("start", texts.from(name))}
      <span aria-hidden="true">–</span>
      {field("end", texts.until(name))}
      {canWrite && (
        <Button kind="quiet" aria-label={texts.removeHours(name)} onClick={onRemove}>
          ✕
        </Button>
      )}
      {isOvernight(hours) && <span class="small quiet">{texts.overnight}</span>}
    </span>
  );
}
