/** What the palette offers: pages, actions, and what a search finds. */
import type { components } from "../../../api/schema.d.ts";
import { texts } from "../../texts/palette.ts";

type SearchResult = components["schemas"]["SearchResult"];
type Group = keyof typeof texts.groups;

export type Entry = {
  id: string;
  group: Group;
  title: string;
  /** What it is. */
  kind: string;
  detail?: string;
  /** Other words that find it. */
  words?: string;
} & ({ path: string } | { run: () => void });

/** The entries that have a word for each word of the text, which it begins; those that are called so first. */
export function matchEntries(entries: readonly Entry[], text: string): Entry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return entries
    .map((entry) => ({ entry, rank: rankOf(entry, words) }))
    .filter(({ rank }) => rank !== null)
    .sort((one, other) => (one.rank ?? 0) - (other.rank ?? 0))
    .map(({ entry }) => entry);
}

/** Lower is better; null does not match. */
function rankOf(entry: Entry, words: readonly string[]): number | null {
  const title = ` ${entry.title.toLowerCase()}`;
  const all = `${title} ${entry.words ?? ""} ${entry.detail ?? ""}`.toLowerCase();
  if (!words.every((word) => all.includes(` ${word}`))) {
    return null;
  }
  const [first = ""] = words;
  return title.startsWith(` ${first}`) ? 0 : title.includes(` ${first}`) ? 1 : 2;
}

/** Where a search result is shown. */
export function pathOf(result: SearchResult): string {
  const id = encodeURIComponent(result.id);
  switch (result.type) {
    case "subscriber":
      return `/subscribers/${id}`;
    case "workflow":
      return `/workflows/${id}`;
    case "topic":
      return `/topics/${id}`;
    case "integration":
      return `/integrations/${id}`;
    case "webhookEndpoint":
      return `/webhooks/${id}`;
    case "transaction":
      return `/activity?transactionId=${id}`;
    case "notification":
      return `/activity/${id}`;
    case "workflowVersion":
      return `${pathOfParent(result)}/versions`;
    case "job":
    case "message":
    case "subscription":
    case "webhookDelivery":
      return pathOfParent(result);
    case "webhookEvent":
      return "/webhooks";
    case "apiKey":
      return "/api-keys";
    case "auditEntry":
      return "/audit-log";
  }
}

function pathOfParent({ parent }: SearchResult): string {
  const lists = { notification: "activity", workflow: "workflows", topic: "topics", webhookEndpoint: "webhooks" };
  const list = lists[parent?.type as keyof typeof lists];
  return parent && list ? `/${list}/${encodeURIComponent(parent.id)}` : "/";
}

export function entryOf(result: SearchResult): Entry {
  return {
    id: `found-${result.type}-${result._id}`,
    group: "found",
    title: result.title,
    kind: texts.types[result.type],
    path: pathOf(result),
    ...(result.subtitle && result.subtitle !== result.title && { detail: result.subtitle }),
  };
}
