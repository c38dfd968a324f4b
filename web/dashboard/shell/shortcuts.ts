/** Letters that lead to a page after g. */
export const SHORTCUTS: Readonly<Record<string, string>> = {
  h: "/",
  a: "/activity",
  w: "/workflows",
  o: "/outbox",
  s: "/subscribers",
  t: "/topics",
  i: "/integrations",
  d: "/dead-letters",
  k: "/api-keys",
  e: "/environments",
};
