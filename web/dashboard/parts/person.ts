/** How pages name people, and where their pages are. */

export type Named = { subscriberId: string; firstName?: string | null; lastName?: string | null };

/** The name of a person; those without one are called by their id. */
export function nameOf(person: Named): string {
  const name = [person.firstName, person.lastName].map((part) => part?.trim()).filter(Boolean);
  return name.join(" ") || person.subscriberId;
}

/** The path of a person's page in an environment. */
export function subscriberPath(subscriberId: string, part = ""): string {
  // Without a part, this id would be the address of the page that imports people.
  const shown = part === "" && subscriberId === "import" ? "overview" : part;
  return `/subscribers/${encodeURIComponent(subscriberId)}${shown === "" ? "" : `/${shown}`}`;
}

export function topicPath(key: string): string {
  return `/topics/${encodeURIComponent(key)}`;
}

export function segmentPath(key: string): string {
  return `/segments/${encodeURIComponent(key)}`;
}

/** The path of the page of a context. */
export function contextPath(type: string, id: string): string {
  return `/contexts/${encodeURIComponent(type)}/${encodeURIComponent(id)}`;
}
