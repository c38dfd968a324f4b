/** The state of a page that belongs into its address: filters, the chosen tab, the range of time. */
import { useCallback, useMemo } from "preact/hooks";
import { useLocation } from "preact-iso/router";

export type UrlState = {
  /** The first value of a name; an empty text if there is none. */
  get: (name: string) => string;
  getAll: (name: string) => string[];
  /** Change values; empty ones leave the address. The history gets an entry only with `{ push: true }`. */
  set: (values: Record<string, string | readonly string[] | undefined>, options?: { push?: boolean }) => void;
};

export function useUrlState(): UrlState {
  const { path, url, route } = useLocation();
  const search = url.includes("?") ? url.slice(url.indexOf("?")) : "";
  const query = useMemo(() => new URLSearchParams(search), [search]);
  const set = useCallback<UrlState["set"]>(
    (values, options) => {
      const changed = changeQuery(query, values);
      route(changed ? `${path}?${changed}` : path, !options?.push);
    },
    [path, query, route],
  );
  return { get: (name) => query.get(name) ?? "", getAll: (name) => query.getAll(name), set };
}

export function changeQuery(
  query: URLSearchParams,
  values: Record<string, string | readonly string[] | undefined>,
): string {
  const changed = new URLSearchParams(query);
  for (const [name, value] of Object.entries(values)) {
    changed.delete(name);
    for (const one of [value ?? []].flat()) {
      if (one !== "") {
        changed.append(name, one);
      }
    }
  }
  return changed.toString();
}
