import type { components } from "../../../api/schema.d.ts";
import { Button } from "../../../ui/button.tsx";
import { actionsColumn, Cut, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { nameOf, subscriberPath } from "../../parts/person.ts";
import { useAddress } from "../../session.ts";
import { topicTexts as texts } from "../../texts/topics.ts";

export type Membership = components["schemas"]["Subscription"];

type MemberTableProps = { rows: readonly Membership[]; onRemove?: (member: Membership) => void };

export function MemberTable({ rows, onRemove }: MemberTableProps) {
  const address = useAddress();
  const columns = [
    {
      name: "name",
      title: texts.columns.name,
      show: ({ subscriber }: Membership) => (
        <a class="cut" href={address(subscriberPath(subscriber.subscriberId))} title={nameOf(subscriber)}>
          <bdi>{nameOf(subscriber)}</bdi>
        </a>
      ),
    },
    {
      name: "id",
      title: texts.columns.id,
      show: ({ subscriber }: Membership) => <Cut text={subscriber.subscriberId} isCode />,
    },
    {
      name: "email",
      title: texts.columns.email,
      show: ({ subscriber }: Membership) => subscriber.email && <Cut text={subscriber.email} />,
    },
    { name: "since", title: texts.since, show: (one: Membership) => <Time at={one.createdAt} /> },
    ...actionsColumn(
      onRemove !== undefined &&
        ((one: Membership) => (
          <Button kind="quiet" aria-label={texts.removeOf(nameOf(one.subscriber))} onClick={() => onRemove(one)}>
            {texts.remove}
          </Button>
        )),
    ),
  ];
  return (
    <div class="people-table people-members">
      <Table label={texts.parts.members} columns={columns} rows={rows} rowKey={(one) => one._id} />
    </div>
  );
}
