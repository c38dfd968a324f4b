import { api, dataOf } from "../../../api/client.ts";
import type { Answer } from "./model.ts";

/** Subscribe up to a hundred people to a topic; those who do not exist are reported. */
export async function subscribe(topicKey: string, subscriberIds: string[]): Promise<Answer> {
  const answer = dataOf(
    await api.POST("/v2/topics/{topicKey}/subscriptions", { params: { path: { topicKey } }, body: { subscriberIds } }),
  );
  return { added: answer.meta.successful, errors: answer.errors ?? [] };
}
