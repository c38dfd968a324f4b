import { useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { actionsColumn, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { Pager, useCursor } from "../../parts/pager.tsx";
import { topicPath } from "../../parts/person.ts";
import { useAddress, useCan } from "../../session.ts";
import { texts as people } from "../../texts/people.ts";
import { topicTexts as texts } from "../../texts/subscriber.ts";
import { AddToTopic } from "./add-to-topic.tsx";
import type { PartProps } from "./part.ts";
import { ruleWords } from "./preference-rows.ts";

type Subscription = components["schemas"]["Subscription"];

const PAGE = 50;

/** The topics that a person is subscribed to. */
export function TopicsPart({ subscriber }: PartProps) {
  const canWrite = useCan("topics:write");
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<Subscription | null>(null);
  const query = { ...useCursor(), limit: PAGE };
  const loaded = useLoaded(`topics ${subscriber._id} ${JSON.stringify(query)}`, async (signal) =>
    dataOf(
      await api.GET("/v2/subscribers/{subscriberId}/subscriptions", {
        params: { path: { subscriberId: subscriber.subscriberId }, query },
        signal,
      }),
    ),
  );
  if (loaded.error) {
    return <Problem error={loaded.error} onRetry={loaded.reload} />;
  }
  if (!loaded.data) {
    return <Loading lines={6} />;
  }
  return (
    <>
      {canWrite && (
        <div class="row">
          <Button onClick={() => setAdding(true)}>{texts.add}</Button>
        </div>
      )}
      {loaded.data.totalCount === 0 ? (
        <Empty title={texts.none}>
          <p class="quiet">{texts.noneHint}</p>
        </Empty>
      ) : (
        <>
          <SubscriptionTable rows={loaded.data.data} {...(canWrite && { onRemove: setRemoved })} />
          <Pager page={loaded.data} count={texts.count} />
        </>
      )}
      {isAdding && <AddToTopic subscriber={subscriber} reload={loaded.reload} onClose={() => setAdding(false)} />}
      {removed && (
        <Confirm
          title={texts.removeTitle(titleOf(removed))}
          action={people.remove}
          isDangerous
          onClose={() => setRemoved(null)}
          onConfirm={async () => {
            await api.DELETE("/v2/topics/{topicKey}/subscriptions", {
              params: { path: { topicKey: removed.topic.key } },
              body: { subscriberIds: [subscriber.subscriberId] },
            });
            notify(texts.removed(titleOf(removed)));
            loaded.reload();
          }}
        >
          <p>{texts.removeText}</p>
        </Confirm>
      )}
    </>
  );
}

function titleOf(subscription: Subscription): string {
  return subscription.topic.name ?? subscription.topic.key;
}

type SubscriptionTableProps = { rows: readonly Subscription[]; onRemove?: (one: Subscription) => void };

function SubscriptionTable({ rows, onRemove }: SubscriptionTableProps) {
  const address = useAddress();
  const columns = [
    {
      name: "topic",
      title: texts.topic,
      show: (one: Subscription) => (
        <a href={address(topicPath(one.topic.key))}>
          <bdi>{titleOf(one)}</bdi>
        </a>
      ),
    },
    { name: "key", title: texts.key, show: (one: Subscription) => <code>{one.topic.key}</code> },
    { name: "since", title: texts.since, show: (one: Subscription) => <Time at={one.createdAt} /> },
    ...(rows.some((one) => one.rules)
      ? [
          {
            name: "rules",
            title: texts.rules,
            show: (one: Subscription) => one.rules && <bdi>{one.rules.map(ruleWords).join("; ")}</bdi>,
          },
        ]
      : []),
    ...actionsColumn(
      onRemove !== undefined &&
        ((one: Subscription) => (
          <Button kind="quiet" aria-label={texts.removeTitle(titleOf(one))} onClick={() => onRemove(one)}>
            {people.remove}
          </Button>
        )),
    ),
  ];
  return <Table label={texts.list} columns={columns} rows={rows} rowKey={(one) => one._id} />;
}
