import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { Problem } from "../../../ui/problem.tsx";
import { topicPath } from "../../parts/person.ts";
import type { Subscriber } from "../../parts/subscriber-fields.ts";
import { useAddress } from "../../session.ts";
import { preferenceTexts as texts } from "../../texts/subscriber.ts";
import { ruleWords } from "./preference-rows.ts";

const MOST = 100;

/** What the person decided for single topics, if they decided anything. */
export function TopicRules({ subscriber }: { subscriber: Subscriber }) {
  const address = useAddress();
  const loaded = useLoaded(`rules ${subscriber._id}`, async (signal) => {
    const page = await api.GET("/v2/subscribers/{subscriberId}/subscriptions", {
      params: { path: { subscriberId: subscriber.subscriberId }, query: { limit: MOST } },
      signal,
    });
    return dataOf(page).data.filter((one) => one.rules);
  });
  if (loaded.error) {
    return <Problem error={loaded.error} onRetry={loaded.reload} />;
  }
  if (!loaded.data?.length) {
    return null;
  }
  return (
    <section class="stack" aria-labelledby="preferences-topics">
      <h2 id="preferences-topics">{texts.topics}</h2>
      <p class="quiet">{texts.topicsHint}</p>
      <ul class="people-list panel">
        {loaded.data.map((one) => (
          <li key={one._id}>
            <a href={address(topicPath(one.topic.key))}>
              <bdi>{one.topic.name ?? one.topic.key}</bdi>
            </a>
            {" — "}
            <bdi>{one.rules?.map(ruleWords).join("; ")}</bdi>
          </li>
        ))}
      </ul>
    </section>
  );
}
