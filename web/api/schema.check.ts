// What the generated types must allow and refuse. Nothing runs: `tsc` checks it.
import type { components, paths } from "./schema.d.ts";

type Schemas = components["schemas"];
type Trigger = paths["/v1/events/trigger"]["post"]["requestBody"]["content"]["application/json"];
type Events = paths["/v1/notifications"]["get"]["responses"][200]["content"]["application/json"];
type Refusal = paths["/v1/events/trigger"]["post"]["responses"][422]["content"]["application/json"];

export const triggers: Trigger[] = [
  { name: "welcome", to: "ada" },
  { name: "welcome", to: { subscriberId: "ada", email: "ada@example.com", data: { plan: { name: "pro" } } } },
  { name: "welcome", to: { type: "Topic", topicKey: "news", exclude: ["ada"] } },
  { name: "welcome", to: ["ada", { subscriberId: "bob" }, { topicKey: "news" }], payload: { order: { lines: [1] } } },
  { name: "welcome", to: "ada", actor: { subscriberId: "bob" }, context: { tenant: "acme", app: { id: "web" } } },
];

// @ts-expect-error A recipient is no number.
export const toANumber: Trigger = { name: "welcome", to: 42 };

// @ts-expect-error A subscriber has a subscriberId.
export const toNobody: Trigger = { name: "welcome", to: { email: "ada@example.com" } };

// @ts-expect-error There is no such channel.
export const noChannel: Schemas["SuppressionIn"] = { channel: "fax", address: "ada@example.com" };

// @ts-expect-error There is no such member, and the API refuses others.
export const noCredential: Schemas["IntegrationCredentials"] = { apiKee: "secret" };

/** Only what has no default must be given. */
export const integration: Schemas["IntegrationIn"] = { providerId: "sendgrid", channel: "email" };
export const step: Schemas["StepIn"] = { name: "Mail", type: "email", controlValues: { subject: "Hi", body: "Hello" } };
export const limits: Schemas["EnvironmentPatch"] = { limits: { trigger: { perSecond: 10 }, global: null } };

/** A field with a default is in every response. */
export function isGone(answer: Schemas["EnvironmentDeleted"]): boolean {
  return answer.acknowledged;
}

export function colorOf(status: Schemas["JobStatus"]): string {
  switch (status) {
    case "completed":
      return "green";
    case "failed":
      return "red";
    case "canceled":
    case "merged":
    case "skipped":
      return "grey";
    case "pending":
    case "queued":
    case "running":
    case "delayed":
      return "blue";
  }
}

export function describeEvents(events: Events): string[] {
  return events.data.flatMap((event) => [
    `${event.severity satisfies "high" | "medium" | "low" | "none"}, by ${String(event.payload.author)}`,
    ...event.jobs.flatMap((job) => [colorOf(job.status), ...job.executionDetails.map(markOf)]),
  ]);
}

function markOf({ status }: Schemas["ExecutionDetail"]): string {
  switch (status) {
    case "Success":
    case "ReadConfirmation":
      return "✓";
    case "Warning":
      return "!";
    case "Failed":
      return "✗";
    case "Pending":
    case "Queued":
      return "…";
  }
}

export function outcomeOf({ status }: Schemas["TriggerResult"]): string {
  switch (status) {
    case "processed":
      return "accepted";
    case "trigger_not_active":
    case "no_workflow_steps_defined":
    case "no_workflow_active_steps_defined":
    case "error":
      return "refused";
  }
}

export function firstProblem(refusal: Refusal): string {
  return Object.values(refusal.errors)[0]?.messages[0] ?? refusal.message;
}
