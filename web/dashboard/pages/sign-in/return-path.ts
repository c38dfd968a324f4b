/** Where to go after signing in: only to a page of the dashboard, whatever the address says. */
export function readReturnPath(wanted: string | undefined, base: string): string {
  if (!wanted?.startsWith(`${base}/`) || wanted.includes("\\") || wanted.includes("//")) {
    return `${base}/`;
  }
  return wanted;
}
