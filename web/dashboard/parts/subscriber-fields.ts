/** The fields of a subscriber in forms, and what forms send. */
import type { components } from "../../api/schema.d.ts";
import { texts } from "../texts/people.ts";

export type Subscriber = components["schemas"]["Subscriber"];
type SubscriberIn = components["schemas"]["SubscriberIn"];
type SubscriberPatch = components["schemas"]["SubscriberPatch"];

export const TEXT_FIELDS = ["firstName", "lastName", "email", "phone", "locale", "timezone", "avatar"] as const;

export type SubscriberValues = Record<(typeof TEXT_FIELDS)[number] | "subscriberId" | "data", string>;

export const NO_VALUES: SubscriberValues = {
  subscriberId: "",
  firstName: "",
  lastName: "",
  email: "",
  phone: "",
  locale: "",
  timezone: "",
  avatar: "",
  data: "",
};

export function valuesOf(subscriber: Subscriber): SubscriberValues {
  const values = { ...NO_VALUES, subscriberId: subscriber.subscriberId };
  for (const field of TEXT_FIELDS) {
    values[field] = subscriber[field] ?? "";
  }
  const data = subscriber.data ?? {};
  return { ...values, data: Object.keys(data).length === 0 ? "" : JSON.stringify(data, null, 2) };
}

export type ReadData = { data: Record<string, unknown> | null; problem?: undefined } | { problem: string };

/** Read custom data; an empty text is none. */
export function readData(text: string): ReadData {
  if (text.trim() === "") {
    return { data: null };
  }
  try {
    const data: unknown = JSON.parse(text);
    return typeof data === "object" && data !== null && !Array.isArray(data)
      ? { data: data as Record<string, unknown> }
      : { problem: texts.dataNotObject };
  } catch (error) {
    return { problem: texts.dataNotJson((error as Error).message) };
  }
}

/** What creates a subscriber: fields without a value are left out. */
export function creation(values: SubscriberValues, data: Record<string, unknown> | null): SubscriberIn {
  const body: SubscriberIn = { subscriberId: values.subscriberId };
  for (const field of TEXT_FIELDS) {
    if (values[field].trim() !== "") {
      body[field] = values[field].trim();
    }
  }
  return data === null ? body : { ...body, data };
}

/** What changes a subscriber: only what differs, and null for what was emptied. */
export function changes(
  before: Subscriber,
  values: SubscriberValues,
  data: Record<string, unknown> | null,
): SubscriberPatch {
  const body: SubscriberPatch = {};
  for (const field of TEXT_FIELDS) {
    const value = values[field].trim() || null;
    if (value !== before[field]) {
      body[field] = value;
    }
  }
  if (JSON.stringify(data ?? {}) !== JSON.stringify(before.data ?? {})) {
    body.data = data;
  }
  return body;
}
