// Pure rules of what is shown: markers in texts, addresses that may be opened, times.

import type { Notification, Redirect } from "./shapes.ts";

export const MAX_SHOWN_COUNT = 99;

const HOUR = 3_600_000;
const UNITS = [
  ["day", 24 * HOUR],
  ["hour", HOUR],
  ["minute", 60_000],
] as const;
const TARGET = /^_(self|blank|parent|top|unfencedTop)$/;
const MARKERS = /\\([*\\])|\*\*((?:\\.|[^\\])+?)\*\*(?!\*)|\*((?:\\.|[^*\\])+)\*/gs;

export interface Span {
  tag: "strong" | "em" | "";
  text: string;
  spans?: Span[];
}

/** Splits a text at `**bold**` and `*italic*`; `\*` is an asterisk. */
export function readMarkers(text: string): Span[] {
  const spans: Span[] = [];
  let end = 0;
  const add = (plain: string) => {
    const last = spans.at(-1);
    if (last?.tag === "") last.text += plain;
    else if (plain) spans.push({ tag: "", text: plain });
  };
  for (const match of text.matchAll(MARKERS)) {
    const [whole, escaped, bold, italic] = match;
    add(text.slice(end, match.index));
    end = match.index + whole.length;
    if (escaped) add(escaped);
    else spans.push({ tag: bold ? "strong" : "em", text: whole, spans: readMarkers(bold ?? italic ?? "") });
  }
  add(text.slice(end));
  return spans;
}

/** The text without markers. */
export function plainText(text: string): string {
  const join = (spans: Span[]): string => spans.map((one) => (one.spans ? join(one.spans) : one.text)).join("");
  return join(readMarkers(text));
}

/** Where a redirect leads, if that may be opened: a web address or a path of this site. */
export function safeRedirect(redirect: Redirect | null | undefined): { url: string; target: string } | null {
  const url = redirect?.url.trim() ?? "";
  const isPath = /^\/(?![/\\])/.test(url);
  if (!isPath && !/^https?:\/\/[^/\\]/i.test(url)) return null;
  const target = redirect?.target ?? "";
  return { url, target: TARGET.test(target) ? target : isPath ? "_self" : "_blank" };
}

export function isSafeImage(url: string | null | undefined): url is string {
  return !!url && /^(https?:\/\/|\/(?![/\\])|data:image\/)/i.test(url);
}

/** How long ago, as `5 min. ago`, and the date after a week; times in the future and of the last minute are now. */
export function relativeTime(at: Date, now: Date, locale: string | undefined): string {
  const past = +now - +at;
  if (past > 7 * 24 * HOUR) return at.toLocaleDateString(locale, { dateStyle: "medium" });
  const format = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" });
  const [unit, length] = UNITS.find((one) => past >= one[1]) ?? ["second"];
  return format.format(length ? -Math.floor(past / length) : 0, unit);
}

export function fullTime(at: Date, locale: string | undefined): string {
  return at.toLocaleString(locale, { dateStyle: "medium", timeStyle: "short" });
}

export function shownCount(count: number): string {
  return count > MAX_SHOWN_COUNT ? `${MAX_SHOWN_COUNT}+` : String(count);
}

export type View = "inbox" | "unread" | "archived" | "snoozed";

/** The filter of a view, as the API takes it. */
export function viewFilter(view: View): { read?: boolean; archived?: boolean; snoozed?: boolean } {
  if (view === "archived") return { archived: true };
  if (view === "snoozed") return { snoozed: true };
  return { archived: false, snoozed: false, ...(view === "unread" ? { read: false } : {}) };
}

export function fitsView(one: Notification, view: View, tags: readonly string[] | undefined): boolean {
  if (tags?.length && !tags.some((tag) => one.tags?.includes(tag))) return false;
  if (view === "snoozed") return one.isSnoozed;
  if (view === "archived") return one.isArchived;
  return !one.isArchived && !one.isSnoozed && (view === "inbox" || !one.isRead);
}
