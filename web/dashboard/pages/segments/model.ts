/** What is filled in of a segment, what of it is sent, and how parts of a count are joined. */
import type { components } from "../../../api/schema.d.ts";
import { texts } from "../../texts/segments.ts";
import { isSame } from "../../values.ts";

export type Segment = components["schemas"]["Segment"];
export type SegmentUsage = components["schemas"]["SegmentUsage"];
export type SegmentPreview = components["schemas"]["SegmentPreview"];
type Condition = Segment["condition"];

export type SegmentForm = { key: string; name: string; description: string; condition: Condition };

/** A condition that always holds: the editor shows it as none. */
export const EVERYBODY: Condition = true;
export const EMPTY: SegmentForm = { key: "", name: "", description: "", condition: EVERYBODY };

const MAX_SAMPLE = 10;

export function formOf({ key, name, description = "", condition }: Segment): SegmentForm {
  return { key, name, description, condition };
}

export function bodyOf({ key, name, description, condition }: SegmentForm): components["schemas"]["SegmentIn"] {
  return { key, name, condition, ...(description && { description }) };
}

/** Only what is not as it is saved, so that others keep what they changed meanwhile; the key never changes. */
export function changesOf(saved: Segment, form: SegmentForm): components["schemas"]["SegmentPatch"] {
  const before = formOf(saved);
  return {
    ...(form.name !== before.name && { name: form.name }),
    ...(form.description !== before.description && { description: form.description || null }),
    ...(!isSame(form.condition, before.condition) && { condition: form.condition }),
  };
}

/** What the editor shows for a condition, which has nothing for everybody. */
export function shownCondition(condition: Condition): unknown {
  return condition === EVERYBODY ? undefined : condition;
}

/** The condition that the editor says; what is typed as JSON is checked by the server. */
export function typedCondition(value: unknown): Condition {
  return value === undefined ? EVERYBODY : (value as Condition);
}

/** A count and the one that went on behind it. */
export function joinPreviews(before: SegmentPreview, part: SegmentPreview): SegmentPreview {
  const sample = [...before.sample, ...part.sample].slice(0, MAX_SAMPLE);
  return { count: before.count + part.count, sample, next: part.next };
}

export function isUsed({ workflows, schedules, triggers }: SegmentUsage): boolean {
  return workflows.length + schedules.length + triggers.length > 0;
}

type Field = keyof typeof texts.fields;
const TYPES: Record<Field, object> = {
  subscriberId: { type: "string" },
  email: { type: "string" },
  phone: { type: "string" },
  firstName: { type: "string" },
  lastName: { type: "string" },
  avatar: { type: "string" },
  locale: { type: "string" },
  timezone: { type: "string" },
  data: { type: "object", additionalProperties: true },
  channels: { type: "array" },
  topics: { type: "array" },
  createdAt: { type: "string" },
  isOnline: { type: "boolean" },
  lastOnlineAt: { type: "string" },
};

/** The variables that a condition may name, as a JSON Schema. */
export const VARIABLES = {
  type: "object",
  properties: { subscriber: { type: "object", properties: describeFields() } },
};

function describeFields() {
  const fields = Object.entries(TYPES) as [Field, object][];
  return Object.fromEntries(fields.map(([name, type]) => [name, { ...type, description: texts.fields[name] }]));
}
