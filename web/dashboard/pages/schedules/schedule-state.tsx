import { Status } from "../../../ui/status.tsx";
import { texts } from "../../texts/schedules.ts";
import type { Schedule } from "./model.ts";

/** Whether a schedule goes on. */
export function ScheduleState({ schedule }: { schedule: Schedule }) {
  const tone = schedule.status === "active" ? "good" : schedule.status === "paused" ? "warn" : "plain";
  return <Status tone={tone}>{texts.statuses[schedule.status]}</Status>;
}
