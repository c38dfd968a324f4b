import { api, dataOf } from "../../../api/client.ts";
import { curlCommand } from "../../../api/curl.ts";
import { usePages } from "../../../api/pages.ts";
import { ButtonLink } from "../../../ui/button.tsx";
import { More } from "../../../ui/more.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { RunTable } from "../../parts/run-table.tsx";
import { useAddress } from "../../session.ts";
import { runTexts } from "../../texts/subscriber.ts";
import { topicTexts as texts } from "../../texts/topics.ts";
import type { Topic } from "./model.ts";

const PAGE = 20;

/** What triggers for the topic made. */
export function TopicRuns({ topic }: { topic: Topic }) {
  const address = useAddress();
  const pages = usePages(`runs of topic ${topic.key}`, async (next, signal) => {
    const query = { topicKey: topic.key, limit: PAGE, ...(next !== null && { cursor: next }) };
    const page = dataOf(await api.GET("/v1/runs", { params: { query }, signal }));
    return { rows: page.data, next: page.next };
  });
  const body = { name: "my-workflow", to: [{ type: "Topic", topicKey: topic.key }] };
  return (
    <>
      <div class="row spread">
        <p class="quiet">{texts.runsHint}</p>
        <ButtonLink href={address(`/activity?topicKey=${encodeURIComponent(topic.key)}`)}>
          {runTexts.inActivity}
        </ButtonLink>
      </div>
      {pages.isFirstLoading && <Loading lines={6} />}
      {!pages.isLoading && pages.error === null && pages.rows.length === 0 && !pages.hasMore && (
        <Empty title={texts.noRuns} command={curlCommand({ method: "POST", path: "/v1/events/trigger", body })}>
          <p class="quiet">{texts.noRunsHint}</p>
        </Empty>
      )}
      {pages.rows.length > 0 && <RunTable rows={pages.rows} withPerson />}
      <More pages={pages} />
    </>
  );
}
