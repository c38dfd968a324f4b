/** Loads what is shown only after a click. */
export function loadMore(): Promise<typeof import("./more.ts")> {
  return import(new URL("inbox-more.js", import.meta.url).href);
}
