/** Where the pages are. */

export const BASE = "/dashboard";

/** The address of a page in an environment. */
export function addressOf(environment: string, path: string): string {
  return `${BASE}/e/${encodeURIComponent(environment)}${path}`;
}

/** Where people sign in, to come back to where they are. */
export function signInAddress(): string {
  const here = location.pathname + location.search + location.hash;
  return here.replace(/\/+$/, "") === BASE ? `${BASE}/sign-in` : `${BASE}/sign-in?return=${encodeURIComponent(here)}`;
}
