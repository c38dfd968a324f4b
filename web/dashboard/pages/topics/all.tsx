import { api, dataOf } from "../../../api/client.ts";
import { curlCommand } from "../../../api/curl.ts";
import { useLoaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { Button } from "../../../ui/button.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { Pager, useCursor } from "../../parts/pager.tsx";
import { topicPath } from "../../parts/person.ts";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/topics.ts";

type Topic = components["schemas"]["Topic"];

const PAGE = 50;

/** All topics with the numbers of their members, newest first. */
export function AllTopics({ onCreate }: { onCreate: (() => void) | undefined }) {
  const query = { ...useCursor(), limit: PAGE, includeCounts: true };
  const topics = useLoaded(
    `topics ${JSON.stringify(query)}`,
    async (signal) => dataOf(await api.GET("/v2/topics", { params: { query }, signal })),
    { isKept: true },
  );
  if (topics.error) {
    return <Problem error={topics.error} onRetry={topics.reload} />;
  }
  if (!topics.data) {
    return <Loading lines={8} />;
  }
  if (topics.data.totalCount === 0) {
    const body = { key: "release-news", name: "Release news" };
    return (
      <Empty title={texts.empty} command={curlCommand({ method: "POST", path: "/v2/topics", body })}>
        <p class="quiet">{texts.emptyHint}</p>
        {onCreate && <Button onClick={onCreate}>{texts.create}</Button>}
      </Empty>
    );
  }
  return (
    <>
      <TopicTable topics={topics.data.data} />
      <Pager page={topics.data} count={texts.count} />
    </>
  );
}

function TopicTable({ topics }: { topics: readonly Topic[] }) {
  const address = useAddress();
  const columns = [
    {
      name: "name",
      title: texts.name,
      show: (one: Topic) => (
        <a href={address(topicPath(one.key))}>
          <bdi>{one.name || one.key}</bdi>
        </a>
      ),
    },
    { name: "key", title: texts.key, show: (one: Topic) => <code>{one.key}</code> },
    {
      name: "members",
      title: texts.members,
      kind: "number" as const,
      show: (one: Topic) => texts.memberNumber(one.memberCount ?? 0, one.memberCountCapped ?? false),
    },
    { name: "created", title: texts.createdAt, show: (one: Topic) => <Time at={one.createdAt} /> },
  ];
  return <Table label={texts.title} columns={columns} rows={topics} rowKey={(one) => one._id} />;
}
