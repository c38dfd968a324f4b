/** The layouts that an e-mail can have. */
import { api, dataOf } from "../../api/client.ts";
import type { components } from "../../api/schema.d.ts";

export type LayoutChoice = Pick<components["schemas"]["Layout"], "layoutId" | "name" | "isDefault">;

/** As many as an environment can have. */
const MAX_LAYOUTS = 100;

/** All layouts by name. */
export async function loadLayouts(signal?: AbortSignal): Promise<readonly LayoutChoice[]> {
  const query = { limit: MAX_LAYOUTS, orderBy: "name" as const, orderDirection: "ASC" as const };
  return dataOf(await api.GET("/v2/layouts", { params: { query }, signal: signal ?? null })).layouts;
}

/** The identifier of the layout that new e-mails start with, if there is one. */
export async function findDefaultLayout(signal?: AbortSignal): Promise<string | undefined> {
  return (await loadLayouts(signal)).find((layout) => layout.isDefault)?.layoutId;
}
