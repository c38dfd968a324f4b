/** Loads what is shown only after a click. */
export function loadMore(): Promise<typeof import("./more.ts")> {
  return import(new URL("inbox-more.js", import.meta.url).href);
}

/** Loads the texts in other languages than English. */
export function loadLanguages(): Promise<typeof import("./languages.ts")> {
  return import(new URL("inbox-languages.js", import.meta.url).href);
}
