/** What is filled in of a schedule, and what of it is sent. */
import type { components } from "../../../api/schema.d.ts";
import { fromLocalText, toLocalText } from "../../../ui/formats.ts";
import { isObject, type JsonObject } from "../../values.ts";

export type Schedule = components["schemas"]["TriggerSchedule"];
type To = components["schemas"]["ScheduleIn"]["to"];
export type ToKind = "everyone" | "topic" | "segment" | "person" | "several";

export type ScheduleForm = {
  identifier: string;
  name: string;
  workflowId: string;
  toKind: ToKind;
  /** The key of the one recipient. */
  toKey: string;
  several: unknown[];
  ruleKind: "cron" | "rrule";
  rule: string;
  isOfPerson: boolean;
  timezone: string;
  fallbackTimezone: string;
  /** As a field for local times has them. */
  from: string;
  until: string;
  catchUp: Schedule["catchUp"];
  payload: JsonObject;
};

export const EMPTY: ScheduleForm = {
  identifier: "",
  name: "",
  workflowId: "",
  toKind: "topic",
  toKey: "",
  several: [],
  ruleKind: "cron",
  rule: "0 9 * * 1",
  isOfPerson: false,
  timezone: "",
  fallbackTimezone: "",
  from: "",
  until: "",
  catchUp: "one",
  payload: {},
};

export function formOf(schedule: Schedule): ScheduleForm {
  const isOfPerson = schedule.timezone === "subscriber";
  return {
    identifier: schedule.identifier,
    name: schedule.name,
    workflowId: schedule.workflowId,
    ...recipientsOf(schedule.to),
    ruleKind: schedule.cron === undefined ? "rrule" : "cron",
    rule: schedule.cron ?? schedule.rrule ?? "",
    isOfPerson,
    timezone: isOfPerson ? "" : schedule.timezone,
    fallbackTimezone: schedule.fallbackTimezone,
    from: schedule.from === undefined ? "" : toLocalText(schedule.from),
    until: schedule.until === undefined ? "" : toLocalText(schedule.until),
    catchUp: schedule.catchUp,
    payload: schedule.payload,
  };
}

/** What a form says of a schedule; its identifier never changes. */
export function bodyOf(form: ScheduleForm) {
  return {
    name: form.name,
    workflowId: form.workflowId,
    to: toOf(form),
    ...(form.ruleKind === "cron" ? { cron: form.rule } : { rrule: form.rule }),
    timezone: form.isOfPerson ? "subscriber" : form.timezone || null,
    fallbackTimezone: form.fallbackTimezone || null,
    from: form.from === "" ? null : fromLocalText(form.from),
    until: form.until === "" ? null : fromLocalText(form.until),
    catchUp: form.catchUp,
    payload: form.payload,
  };
}

/** The recipients in a few words. */
export function shortRecipients(to: Schedule["to"]): { kind: ToKind | "nobody"; text: string } {
  if (to.length === 0) {
    return { kind: "nobody", text: "" };
  }
  const { toKind, toKey, several } = recipientsOf(to);
  return { kind: toKind, text: toKind === "several" ? several.map(keyOf).join(", ") : toKey };
}

function recipientsOf(to: Schedule["to"]): Pick<ScheduleForm, "toKind" | "toKey" | "several"> {
  const several = [...to] as unknown[];
  const [only] = several;
  if (several.length === 1 && typeof only === "string") {
    return { toKind: "person", toKey: only, several };
  }
  if (several.length === 1 && isObject(only) && !("exclude" in only)) {
    if (only.type === "Everyone") {
      return { toKind: "everyone", toKey: "", several };
    }
    return { toKind: only.type === "Topic" ? "topic" : "segment", toKey: keyOf(only), several };
  }
  return { toKind: "several", toKey: "", several };
}

function keyOf(recipient: unknown): string {
  return isObject(recipient) ? String(recipient.topicKey ?? recipient.segmentKey ?? recipient.type) : String(recipient);
}

function toOf(form: ScheduleForm): To {
  switch (form.toKind) {
    case "everyone":
      return { type: "Everyone" };
    case "topic":
      return { type: "Topic", topicKey: form.toKey };
    case "segment":
      return { type: "Segment", segmentKey: form.toKey };
    case "person":
      return form.toKey;
    default:
      // What is typed as JSON is checked by the server.
      return form.several as To;
  }
}
