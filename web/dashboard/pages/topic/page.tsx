import { useState } from "preact/hooks";
import { useRoute } from "preact-iso/router";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { useUrlState } from "../../../api/url-state.ts";
import { Button } from "../../../ui/button.tsx";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { Tabs } from "../../../ui/tabs.tsx";
import { topicPath } from "../../parts/person.ts";
import { useAddress, useCan } from "../../session.ts";
import { texts as shell } from "../../texts/shell.ts";
import { topicTexts as texts } from "../../texts/topics.ts";
import { DeleteTopic } from "./delete.tsx";
import { Members } from "./members.tsx";
import type { Topic } from "./model.ts";
import { RenameTopic } from "./rename.tsx";
import { TopicRuns } from "./runs.tsx";

export default function TopicPage() {
  const address = useAddress();
  const canWrite = useCan("topics:write");
  const [asked, setAsked] = useState<"rename" | "delete" | null>(null);
  const key = useRoute().params.topicKey ?? "";
  const params = { path: { topicKey: key }, query: { includeCounts: true } };
  const loaded = useLoaded(
    `topic ${key}`,
    async (signal) => dataOf(await api.GET("/v2/topics/{topicKey}", { params, signal })),
    { isKept: true },
  );
  const topic = loaded.data?.key === key ? loaded.data : undefined;
  const actions = canWrite && topic && (
    <>
      <Button onClick={() => setAsked("rename")}>{texts.rename}</Button>
      <Button kind="danger" onClick={() => setAsked("delete")}>
        {texts.delete}
      </Button>
    </>
  );
  return (
    <Page
      title={topic?.name || key || shell.pages.topic}
      back={{ href: address("/topics"), label: texts.back }}
      lead={<code>{key}</code>}
      actions={actions}
    >
      {loaded.error ? (
        <Problem error={loaded.error} onRetry={loaded.reload} />
      ) : topic ? (
        <Parts topic={topic} reload={loaded.reload} />
      ) : (
        <Loading lines={6} />
      )}
      {asked === "rename" && topic && (
        <RenameTopic topic={topic} reload={loaded.reload} onClose={() => setAsked(null)} />
      )}
      {asked === "delete" && topic && <DeleteTopic topic={topic} onClose={() => setAsked(null)} />}
    </Page>
  );
}

function Parts({ topic, reload }: { topic: Topic; reload: () => void }) {
  const address = useAddress();
  const part = useUrlState().get("part") === "runs" ? "runs" : "members";
  const base = address(topicPath(topic.key));
  const tabs = Object.entries(texts.parts).map(([name, label]) => ({
    href: name === "members" ? base : `${base}?part=${name}`,
    label,
    isCurrent: name === part,
  }));
  return (
    <>
      <Tabs label={texts.partsLabel} tabs={tabs} />
      {part === "runs" ? <TopicRuns topic={topic} /> : <Members topic={topic} reload={reload} />}
    </>
  );
}
