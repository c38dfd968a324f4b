/** The health of an integration in words, and what is to be known of its receipts. */

import type { components } from "../../../../api/schema.d.ts";
import { durationText, percentText } from "../../../../ui/formats.ts";
import type { Tone } from "../../../../ui/status.tsx";
import { failureRate } from "../../../parts/calls/counts.ts";
import type { Provider } from "../../../parts/providers.ts";
import { texts } from "../../../texts/integration-health.ts";
import { HEALTH_TONES, healthWord } from "../../integrations/model.ts";

export type Health = components["schemas"]["IntegrationHealth"];
export type CallError = Health["lastErrors"][number];

export const ERROR_TONES: Record<CallError["kind"], Tone> = {
  retryable: "warn",
  no_connection: "warn",
  rate_limited: "wait",
  permanent: "bad",
  recipient_invalid: "bad",
};

/** Whether messages go through the integration, and how that went. */
export function describeHealth({ circuit, counts }: Pick<Health, "circuit" | "counts">): {
  tone: Tone;
  title: string;
  text: string;
} {
  const word = healthWord({ circuit, counts });
  const told = {
    open: texts.open(circuit.failures),
    halfOpen: texts.halfOpen(circuit.failures),
    allFail: texts.allFail,
    someFail: texts.someFail(percentText(failureRate(counts) ?? 0)),
    works: texts.works,
    unused: texts.unused,
  };
  const isRow = circuit.state === "closed" && circuit.failures > 1;
  const text = isRow ? `${told[word]} ${texts.inARow(circuit.failures)}` : told[word];
  return { tone: HEALTH_TONES[word], title: texts.titles[word], text };
}

/** Errors that say the same, the newest first. */
export type ErrorGroup = { kind: CallError["kind"]; message: string; errors: readonly [CallError, ...CallError[]] };

export function groupErrors(errors: readonly CallError[]): ErrorGroup[] {
  const found = new Map<string, [CallError, ...CallError[]]>();
  for (const one of errors) {
    const key = `${one.kind} ${one.message}`;
    const own = found.get(key);
    if (own) {
      own.push(one);
    } else {
      found.set(key, [one]);
    }
  }
  return [...found.values()].map((own) => ({ kind: own[0].kind, message: own[0].message, errors: own }));
}

/** What the rate limit allows, or that the provider asked for a pause; none if messages go at once. */
export function describeRate({ limit, allowance, waitMilliseconds }: Health["rate"]): string | undefined {
  if (limit !== undefined && allowance !== undefined) {
    return texts.rate(limit, allowance);
  }
  return waitMilliseconds > 0 ? texts.pause(durationText(waitMilliseconds)) : undefined;
}

/** The provider is asked for receipts, so that it needs no address. */
export function isPolled(provider: Provider): boolean {
  return provider.receipts === "asked for";
}

/** The credential that reports are signed with, which the server names in its description. */
export function findSigningField(provider: Provider, signedWith: string): Provider["credentials"][number] | undefined {
  const name = /`(\w+)`/.exec(signedWith)?.[1];
  return provider.credentials.find((one) => one.name === name);
}

/** Whether nothing outside of this machine or network reaches an address. */
export function isLocalAddress(url: string): boolean {
  const host = new URL(url).hostname;
  return /^(localhost|.*\.local|127\..*|0\.0\.0\.0|\[::1?\]|10\..*|192\.168\..*|172\.(1[6-9]|2\d|3[01])\..*)$/.test(
    host,
  );
}
