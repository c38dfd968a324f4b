/** The JSON Schema of the variables of a step, also of one that has moved or is not saved. */
import { isObject, type JsonObject } from "../../values.ts";
import type { Draft, DraftStep, Workflow } from "./model.ts";
import { listSaved } from "./saved.ts";
import { listEarlier } from "./tree.ts";

const OUTPUTS: Partial<Record<DraftStep["type"], readonly string[]>> = {
  in_app: ["seen", "read", "lastSeenDate", "lastReadDate", "messageId"],
  email: ["seen", "read"],
  digest: ["events", "eventCount"],
  throttle: ["throttled"],
  branch: ["path"],
  trigger: ["transactionId"],
  update: ["changed", "pending", "refused"],
  clear: ["changed", "pending", "refused"],
  http_request: ["ok", "status", "headers", "body"],
  wait_for: ["matched", "event", "at", "data"],
  ask: ["answer", "label", "by", "at"],
};

/** What the server describes, with the payload and the earlier steps as they are in the editor. */
export function variablesOf(step: DraftStep, draft: Draft, saved: Workflow): JsonObject {
  const all = listSaved(saved);
  const described = all.find((one) => one._id === step._id) ?? all.at(-1);
  const properties = membersOf(described?.variables);
  const earlier = listEarlier(draft.steps, step.key).filter((one) => one.active);
  const known = Object.assign({}, ...all.map((one) => membersOf(membersOf(one.variables).steps)));
  const outputs = earlier.map((one) => [one.stepId, known[one.stepId] ?? outputOf(one)]);
  return {
    type: "object",
    properties: {
      ...properties,
      payload: draft.payloadSchema ?? { type: "object", additionalProperties: true },
      steps: { type: "object", properties: Object.fromEntries(outputs) },
    },
  };
}

export const SAMPLE_EVENTS = 2;

/** What a step sees in the preview besides person and payload; digests before it have some events of that payload. */
export function sampleOf(step: DraftStep, draft: Draft, workflowId: string, payload: JsonObject) {
  const { name, tags, severity } = draft;
  const digests = listEarlier(draft.steps, step.key).filter((one) => one.active && one.type === "digest");
  const payloads = digests.length > 0 ? Array<JsonObject>(SAMPLE_EVENTS).fill(payload) : [];
  const events = payloads.map((one, index) => ({ id: `event-${index + 1}`, time: SAMPLE_TIME, payload: one }));
  return {
    workflow: { name, workflowId, tags, severity },
    steps: Object.fromEntries(digests.map((one) => [one.stepId, { events, eventCount: events.length }])),
    step: { digest: digests.length > 0, events: payloads, total_count: payloads.length },
  };
}

const SAMPLE_TIME = "2026-01-31T09:30:00.000Z";

function outputOf(step: DraftStep): JsonObject {
  const names = OUTPUTS[step.type] ?? (step.type === "custom" ? Object.keys(step.controlValues) : []);
  return { type: "object", properties: Object.fromEntries(names.map((name) => [name, {}])) };
}

function membersOf(schema: unknown): JsonObject {
  return isObject(schema) && isObject(schema.properties) ? schema.properties : {};
}
