import { api, dataOf } from "../../../api/client.ts";
import { curlCommand } from "../../../api/curl.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { useUrlState } from "../../../api/url-state.ts";
import { Button } from "../../../ui/button.tsx";
import { optionsOf, SelectField } from "../../../ui/field.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { Cut, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { Pager, useCursor } from "../../parts/pager.tsx";
import { nameOf, subscriberPath } from "../../parts/person.ts";
import { nameOfProvider, useProviders } from "../../parts/providers.ts";
import type { Subscriber } from "../../parts/subscriber-fields.ts";
import { useAddress, useCan } from "../../session.ts";
import { texts } from "../../texts/subscribers.ts";

const PAGE = 50;

const ORDERS = {
  newest: { orderBy: "_id", orderDirection: "DESC" },
  oldest: { orderBy: "_id", orderDirection: "ASC" },
  changed: { orderBy: "updatedAt", orderDirection: "DESC" },
} as const;

type Order = keyof typeof ORDERS;

function readOrder(text: string): Order {
  return text in ORDERS ? (text as Order) : "newest";
}

/** In which order the list is shown. */
export function OrderField() {
  const url = useUrlState();
  return (
    <SelectField
      label={texts.order}
      value={readOrder(url.get("order"))}
      options={optionsOf(texts.orders)}
      onValue={(chosen) => url.set({ order: chosen === "newest" ? "" : chosen, after: "", before: "" })}
    />
  );
}

/** All subscribers, a page at a time. */
export function AllSubscribers({ onCreate }: { onCreate: () => void }) {
  const order = readOrder(useUrlState().get("order"));
  const query = { ...ORDERS[order], ...useCursor(), limit: PAGE };
  const people = useLoaded(
    `subscribers ${JSON.stringify(query)}`,
    async (signal) => dataOf(await api.GET("/v2/subscribers", { params: { query }, signal })),
    { isKept: true },
  );
  if (people.error) {
    return <Problem error={people.error} onRetry={people.reload} />;
  }
  if (!people.data) {
    return <Loading lines={10} />;
  }
  if (people.data.totalCount === 0) {
    return <NobodyYet onCreate={onCreate} />;
  }
  return (
    <>
      <SubscriberTable people={people.data.data} />
      <Pager page={people.data} count={texts.count} />
    </>
  );
}

function SubscriberTable({ people }: { people: readonly Subscriber[] }) {
  const address = useAddress();
  const providers = useProviders();
  const columns = [
    {
      name: "name",
      title: texts.columns.name,
      show: (one: Subscriber) => (
        <a class="cut" href={address(subscriberPath(one.subscriberId))} title={nameOf(one)}>
          <bdi>{nameOf(one)}</bdi>
        </a>
      ),
    },
    { name: "id", title: texts.columns.id, show: (one: Subscriber) => <Cut text={one.subscriberId} isCode /> },
    { name: "email", title: texts.columns.email, show: (one: Subscriber) => one.email && <Cut text={one.email} /> },
    { name: "phone", title: texts.columns.phone, show: (one: Subscriber) => one.phone && <Cut text={one.phone} /> },
    {
      name: "devices",
      title: texts.columns.devices,
      show: (one: Subscriber) =>
        [...new Set(one.channels.map(({ providerId }) => nameOfProvider(providers.data, providerId)))].join(", "),
    },
    { name: "created", title: texts.columns.created, show: (one: Subscriber) => <Time at={one.createdAt} /> },
  ];
  return (
    <div class="people-table people-all">
      <Table label={texts.title} columns={columns} rows={people} rowKey={(one) => one._id} />
    </div>
  );
}

function NobodyYet({ onCreate }: { onCreate: () => void }) {
  const canWrite = useCan("subscribers:write");
  const body = { subscriberId: "ada", firstName: "Ada", email: "ada@example.com" };
  return (
    <Empty title={texts.empty} command={curlCommand({ method: "POST", path: "/v2/subscribers", body })}>
      <p class="quiet">{canWrite ? texts.emptyHint : texts.emptyHintViewer}</p>
      {canWrite && <Button onClick={onCreate}>{texts.create}</Button>}
    </Empty>
  );
}
