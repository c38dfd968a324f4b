import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { Problem } from "../../../ui/problem.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { Table } from "../../../ui/table.tsx";
import { topicPath } from "../../parts/person.ts";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/topics.ts";

type Found = components["schemas"]["SearchResult"];

const MOST = 50;

/** Topics that fit a text, the best first. */
export function FoundTopics({ text }: { text: string }) {
  const address = useAddress();
  const found = useLoaded(`found topics ${text}`, async (signal) => {
    const query = { q: text, types: ["topic" as const], limit: MOST };
    return dataOf(await api.GET("/v1/search", { params: { query }, signal })).data;
  });
  if (found.error) {
    return <Problem error={found.error} onRetry={found.reload} />;
  }
  if (!found.data || (found.data.length === 0 && found.isLoading)) {
    return <Loading lines={5} />;
  }
  if (found.data.length === 0) {
    return (
      <Empty title={texts.nothing(text)}>
        <p class="quiet">{texts.nothingHint}</p>
      </Empty>
    );
  }
  const columns = [
    {
      name: "name",
      title: texts.name,
      show: (one: Found) => (
        <a href={address(topicPath(one.id))}>
          <bdi>{one.title}</bdi>
        </a>
      ),
    },
    { name: "key", title: texts.key, show: (one: Found) => <code>{one.id}</code> },
  ];
  return <Table label={texts.title} columns={columns} rows={found.data} rowKey={(one) => one._id} />;
}
