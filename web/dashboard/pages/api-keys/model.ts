/** Rules about API keys. */
import { texts } from "../../texts/api-keys.ts";

const SHOWN_SCOPES = 3;

export function isOver(at: string, now: number): boolean {
  return Date.parse(at) <= now;
}

/** The scopes of a key in a cell of a table. */
export function scopesText(scopes: readonly string[]): string {
  if (scopes.includes("all")) {
    return texts.everything;
  }
  const shown = scopes.slice(0, SHOWN_SCOPES).join(", ");
  const hidden = scopes.length - SHOWN_SCOPES;
  return hidden > 0 ? `${shown} ${texts.andMore(hidden)}` : shown;
}
