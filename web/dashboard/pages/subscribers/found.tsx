import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { Problem } from "../../../ui/problem.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { Cut, Table } from "../../../ui/table.tsx";
import { subscriberPath } from "../../parts/person.ts";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/subscribers.ts";

type Found = components["schemas"]["SearchResult"];

const MOST = 50;

/** People who fit a text, the best first. */
export function FoundSubscribers({ text }: { text: string }) {
  const address = useAddress();
  const found = useLoaded(
    `found ${text}`,
    async (signal) =>
      dataOf(
        await api.GET("/v1/search", { params: { query: { q: text, types: ["subscriber"], limit: MOST } }, signal }),
      ).data,
    { isKept: true },
  );
  if (found.error) {
    return <Problem error={found.error} onRetry={found.reload} />;
  }
  if (!found.data) {
    return <Loading lines={5} />;
  }
  if (found.data.length === 0) {
    return found.isLoading ? (
      <Loading lines={5} />
    ) : (
      <Empty title={texts.nobody(text)}>
        <p class="quiet">{texts.nobodyHint}</p>
      </Empty>
    );
  }
  const columns = [
    {
      name: "name",
      title: texts.columns.name,
      show: (one: Found) => (
        <a class="cut" href={address(subscriberPath(one.id))} title={one.title}>
          <bdi>{one.title}</bdi>
        </a>
      ),
    },
    { name: "id", title: texts.columns.id, show: (one: Found) => <Cut text={one.id} isCode /> },
    {
      name: "contact",
      title: texts.columns.contact,
      show: (one: Found) => one.subtitle && <Cut text={one.subtitle} />,
    },
    {
      name: "matched",
      title: texts.foundBy,
      show: (one: Found) => texts.matched[one.matched.field] ?? one.matched.field,
    },
  ];
  return (
    <>
      <div class="people-table people-found">
        <Table label={texts.title} columns={columns} rows={found.data} rowKey={(one) => one._id} />
      </div>
      {found.data.length === MOST && <p class="small quiet">{texts.onlyBest(MOST)}</p>}
    </>
  );
}
