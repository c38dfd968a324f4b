/** The form of an integration: what it begins with, and what is sent of it. */
import type { components } from "../../../../api/schema.d.ts";
import type { Provider } from "../../../parts/providers.ts";

export type Integration = components["schemas"]["Integration"];
type IntegrationIn = components["schemas"]["IntegrationIn"];
type IntegrationPatch = components["schemas"]["IntegrationPatch"];
type Credentials = components["schemas"]["IntegrationCredentials"];

/** Stands for a secret that is stored: the server shows it, and keeps the secret when it gets it back. */
export const MASK = "********";

export const DEFAULT_WEIGHT = 100;

export type FormValues = {
  name: string;
  identifier: string;
  active: boolean;
  weight: string;
  rateLimit: string;
  conditions: unknown;
  /** By the name of the credential; secrets begin empty. */
  credentials: Record<string, string | boolean>;
  /** Stored secrets that are to be removed. */
  removed: readonly string[];
};

/** The values of a form for a new integration, or for one that exists. */
export function valuesOf(provider: Provider, integration?: Integration): FormValues {
  const stored: Record<string, unknown> = integration?.credentials ?? {};
  return {
    name: integration?.name ?? "",
    identifier: integration?.identifier ?? "",
    active: integration?.active ?? true,
    weight: String(integration?.weight ?? DEFAULT_WEIGHT),
    rateLimit: String(integration?.rateLimit ?? ""),
    conditions: integration?.conditions ?? [],
    credentials: Object.fromEntries(
      provider.credentials.map(({ name, kind, secret }) => [
        name,
        kind === "switch" ? stored[name] === true : secret ? "" : textOf(stored[name]),
      ]),
    ),
    removed: [],
  };
}

/** Whether a secret is stored; what it is stays on the server. */
export function isSecretStored(integration: Integration | undefined, name: string): boolean {
  return (integration?.credentials as Record<string, unknown> | undefined)?.[name] === MASK;
}

/** The credentials to send: all of them, with the mask for secrets that stay as they are. */
export function credentialsOf(provider: Provider, values: FormValues, integration?: Integration): Credentials {
  const stored: Record<string, unknown> = integration?.credentials ?? {};
  const known = new Set(provider.credentials.map((one) => one.name));
  const sent: Record<string, unknown> = Object.fromEntries(Object.entries(stored).filter(([name]) => !known.has(name)));
  for (const { name, secret, kind } of provider.credentials) {
    const value = values.credentials[name] ?? "";
    if (kind === "switch") {
      if (value === true || stored[name] !== undefined) {
        sent[name] = value === true;
      }
    } else if (value !== "") {
      sent[name] = secret ? value : sameAsStored(value, stored[name]);
    } else if (secret && stored[name] === MASK && !values.removed.includes(name)) {
      sent[name] = MASK;
    }
  }
  return sent as Credentials;
}

export function creationOf(provider: Provider, values: FormValues, check: boolean): IntegrationIn {
  return {
    providerId: provider.id,
    channel: provider.channel,
    ...(values.name.trim() && { name: values.name.trim() }),
    ...(values.identifier.trim() && { identifier: values.identifier.trim() }),
    credentials: credentialsOf(provider, values),
    active: values.active,
    weight: Number(values.weight || DEFAULT_WEIGHT),
    rateLimit: values.rateLimit === "" ? null : Number(values.rateLimit),
    conditions: values.conditions as IntegrationIn["conditions"] & object,
    ...(check && { check }),
  };
}

/** The fields that differ from the integration as it is. */
export function changesOf(provider: Provider, values: FormValues, integration: Integration): IntegrationPatch {
  const wanted = {
    name: values.name,
    identifier: values.identifier,
    active: values.active,
    weight: Number(values.weight || DEFAULT_WEIGHT),
    rateLimit: values.rateLimit === "" ? null : Number(values.rateLimit),
    conditions: values.conditions,
    credentials: credentialsOf(provider, values, integration),
  };
  const before: Record<string, unknown> = { ...integration, rateLimit: integration.rateLimit ?? null };
  return Object.fromEntries(Object.entries(wanted).filter(([name, value]) => !isSame(value, before[name])));
}

/** A provider that is part of Clarion sends nothing out that could be tried. */
export function isBuiltIn(provider: Provider): boolean {
  return provider.documentation === "built in";
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) {
    return "";
  }
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** An object that is shown as text stays the object if the text was not changed. */
function sameAsStored(value: string | boolean, stored: unknown): unknown {
  return value === textOf(stored) ? stored : value;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(sortKeys(one)) === JSON.stringify(sortKeys(other));
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(sortKeys);
  }
  if (value === null || typeof value !== "object") {
    return value;
  }
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, own]) => [name, sortKeys(own)]));
}
