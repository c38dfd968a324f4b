/** Which decision is which when a run is loaded again. */
type Keyed = { kind: string; at: string | null; summary: string; source: string; stepId?: string };

/** A key for each decision; what is opened stays open although decisions come before or after it. */
export function decisionKeys(decisions: readonly Keyed[]): string[] {
  const counts = new Map<string, number>();
  return decisions.map((one) => {
    // What is derived now has the present moment.
    const at = one.source === "derived" ? "" : one.at;
    const key = [one.stepId, one.kind, at, one.summary].join("/");
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return `${key}/${count}`;
  });
}
