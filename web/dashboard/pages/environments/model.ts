/** The settings of an environment as a form has them: texts, of which empty ones mean the installation's settings. */
import type { components } from "../../../api/schema.d.ts";
import { isSame } from "../../values.ts";

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

/** What is said of e-mails; an empty host is none. */
export type MailForm = {
  tracking: { opens: boolean; clicks: boolean; domain: string };
  replies: { enabled: boolean; domain: string };
};

export type SettingsForm = MailForm & {
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
    tracking: { ...environment.tracking, domain: environment.tracking.domain ?? "" },
    replies: { ...environment.replies, domain: environment.replies.domain ?? "" },
  };
}

/** What changes; of e-mails only what differs, because their hosts are checked again when they are sent. */
export function patchOf(form: SettingsForm, before: Environment): Patch {
  return {
    ...mailPatchOf(form, formOf(before)),
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

function mailPatchOf({ tracking, replies }: MailForm, before: MailForm): Pick<Patch, "tracking" | "replies"> {
  const hostOf = (domain: string) => domain.trim() || null;
  return {
    ...(!isSame(tracking, before.tracking) && { tracking: { ...tracking, domain: hostOf(tracking.domain) } }),
    ...(!isSame(replies, before.replies) && { replies: { ...replies, domain: hostOf(replies.domain) } }),
  };
}

function textOf(value: number | undefined): string {
  return value === undefined ? "" : String(value);
}

function fromNames<Name extends string, Value>(names: readonly Name[], make: (name: Name) => Value) {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, Value>;
}
