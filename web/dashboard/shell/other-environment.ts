/** Where the page of one environment is in another one. */
import { api } from "../../api/client.ts";

/** Things that may have the same name in another environment; all others have ids of their own. */
const SHARED = /^\/(workflows|subscribers|topics|segments)\/([^/]+)(\/.*)?$/;

type Kind = "workflows" | "subscribers" | "topics" | "segments";

export type Counterpart =
  | { path: string; keepsQuery: boolean }
  | { path: string; list: string; kind: Kind; id: string };

/** The same page in another environment: a list stays, a thing stays if it has a name that may be there too. */
export function findCounterpart(path: string): Counterpart {
  const shared = SHARED.exec(path);
  const [, list = ""] = path.split("/");
  if (shared && path !== "/subscribers/import") {
    const [, kind, id] = shared as unknown as [string, Kind, string];
    return { path, list: `/${list}`, kind, id: decodeURIComponent(id) };
  }
  const isThing = /^\/(activity|integrations|webhooks)\/(?!new$)[^/]+/.test(path);
  return { path: isThing ? `/${list}` : path, keepsQuery: !isThing };
}

/** The path to show in the other environment, after a look whether the thing is there. */
export async function pathIn(environment: string, path: string, search: string): Promise<string> {
  const counterpart = findCounterpart(path);
  if (!("kind" in counterpart)) {
    return counterpart.path + (counterpart.keepsQuery ? search : "");
  }
  return (await exists(environment, counterpart.kind, counterpart.id)) ? counterpart.path : counterpart.list;
}

async function exists(environment: string, kind: Kind, id: string): Promise<boolean> {
  const headers = { "Clarion-Environment": environment };
  try {
    if (kind === "workflows") {
      await api.GET("/v2/workflows/{workflowId}", { params: { path: { workflowId: id } }, headers });
    } else if (kind === "subscribers") {
      await api.GET("/v2/subscribers/{subscriberId}", { params: { path: { subscriberId: id } }, headers });
    } else if (kind === "segments") {
      await api.GET("/v1/segments/{segmentKey}", { params: { path: { segmentKey: id } }, headers });
    } else {
      await api.GET("/v2/topics/{topicKey}", { params: { path: { topicKey: id } }, headers });
    }
    return true;
  } catch {
    return false;
  }
}
