/** What was opened last from the palette, by environment, in this browser. */

export type Recent = { address: string; title: string; detail: string };

const STORED = "clarion-recent";
const LIMIT = 6;

export function readRecent(environment: string): readonly Recent[] {
  const found = readAll()[environment];
  return Array.isArray(found) ? found : [];
}

export function rememberRecent(environment: string, one: Recent): void {
  const all = readAll();
  all[environment] = addRecent(readRecent(environment), one);
  localStorage.setItem(STORED, JSON.stringify(all));
}

export function forgetRecent(): void {
  localStorage.removeItem(STORED);
}

/** The list with one more at its beginning, each once. */
export function addRecent(before: readonly Recent[], one: Recent): Recent[] {
  return [one, ...before.filter((other) => other.address !== one.address)].slice(0, LIMIT);
}

function readAll(): Record<string, readonly Recent[]> {
  try {
    return JSON.parse(localStorage.getItem(STORED) ?? "{}");
  } catch {
    return {};
  }
}
