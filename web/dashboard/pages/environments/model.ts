/** The settings of an environment as a form has them: texts, of which empty ones mean the installation's settings. */
import type { components } from "../../../api/schema.d.ts";

type Environment = components["schemas"]["Environment"];
type Patch = components["schemas"]["EnvironmentPatch"];
type LimitName = keyof Environment["limits"];
type RetentionName = keyof Environment["retentionDays"];

export const LIMITS: readonly LimitName[] = ["trigger", "configuration", "global"];
export const RETENTIONS: readonly RetentionName[] = [
  "runs",
  "inAppMessages",
  "outbox",
  "webhooks",
  "receipts",
  "idempotency",
  "audit",
  "workflowVersions",
];

export type SettingsForm = {
  name: string;
  timezone: string;
  limits: Record<LimitName, { perSecond: string; burst: string }>;
  retentionDays: Record<RetentionName, string>;
};

export function formOf(environment: Environment): SettingsForm {
  return {
    name: environment.name,
    timezone: environment.timezone ?? "",
    limits: fromNames(LIMITS, (name) => {
      const limit = environment.limits[name];
      return { perSecond: textOf(limit?.perSecond), burst: textOf(limit?.burst) };
    }),
    retentionDays: fromNames(RETENTIONS, (name) => textOf(environment.retentionDays[name])),
  };
}

export function patchOf(form: SettingsForm): Patch {
  return {
    name: form.name,
    timezone: form.timezone.trim() || null,
    limits: fromNames(LIMITS, (name) => {
      const { perSecond, burst } = form.limits[name];
      return perSecond === "" ? null : { perSecond: Number(perSecond), ...(burst !== "" && { burst: Number(burst) }) };
    }),
    retentionDays: fromNames(RETENTIONS, (name) => {
      const days = form.retentionDays[name];
      return days === "" ? null : Number(days);
    }),
  };
}

function textOf(value: number | undefined): string {
  return value === undefined ? "" : String(value);
}

function fromNames<Name extends string, Value>(names: readonly Name[], make: (name: Name) => Value) {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, Value>;
}
