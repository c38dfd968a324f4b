import { useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { Button } from "../../../ui/button.tsx";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { actionsColumn, type Column, Table } from "../../../ui/table.tsx";
import { Tabs } from "../../../ui/tabs.tsx";
import { useAddress, useCan } from "../../session.ts";
import { texts } from "../../texts/dead-letters.ts";
import { texts as shellTexts } from "../../texts/shell.ts";
import { useGroupName } from "./group-name.ts";
import { filterOf, GROUPINGS, type Grouping, type Selection } from "./model.ts";
import { SweepDialog, type SweepKind } from "./sweep-dialog.tsx";

type Group = components["schemas"]["DeadLetterGroup"];
type Asked = { kind: SweepKind; selection: Selection; count: number; isCapped: boolean };

/** All dead letters in groups, the largest first. */
export function GroupsView({ by }: { by: Grouping }) {
  const address = useAddress();
  const canWrite = useCan("events:write");
  const nameOf = useGroupName(by);
  const [asked, setAsked] = useState<Asked | null>(null);
  const counts = useLoaded(`dead letters ${by}`, async (signal) =>
    dataOf(await api.GET("/v1/dead-letters/counts", { params: { query: { groupBy: by } }, signal })),
  );
  const found = counts.data?.groupBy === by ? counts.data : undefined;
  const columns: Column<Group>[] = [
    {
      name: "value",
      title: texts.groupings[by],
      show: ({ value }) => (
        <a href={address(`/dead-letters?by=${by}&group=${encodeURIComponent(value)}`)}>
          <bdi>{nameOf(value)}</bdi>
        </a>
      ),
    },
    { name: "count", title: texts.count, kind: "number", show: ({ count }) => texts.countOf(count) },
  ];
  const actions = actionsColumn<Group>(
    canWrite &&
      (({ value, count }) => (
        <GroupActions
          name={nameOf(value)}
          onAsked={(kind) => setAsked({ kind, selection: filterOf(by, value), count, isCapped: false })}
        />
      )),
  );
  const askAll = (kind: SweepKind) =>
    found && setAsked({ kind, selection: { all: true }, count: found.total, isCapped: found.totalCapped });
  return (
    <Page
      title={shellTexts.pages.deadLetters}
      lead={texts.lead}
      actions={
        <>
          <Button kind="quiet" onClick={counts.reload}>
            {texts.refresh}
          </Button>
          {canWrite && found && found.total > 0 && (
            <>
              <Button kind="danger" onClick={() => askAll("discard")}>
                {texts.discardAll}
              </Button>
              <Button kind="primary" onClick={() => askAll("redrive")}>
                {texts.redriveAll}
              </Button>
            </>
          )}
        </>
      }
    >
      <Tabs
        label={texts.by}
        tabs={GROUPINGS.map((one) => ({
          href: address(one === "reason" ? "/dead-letters" : `/dead-letters?by=${one}`),
          label: texts.groupings[one],
          isCurrent: one === by,
        }))}
      />
      {counts.error ? (
        <Problem error={counts.error} onRetry={counts.reload} />
      ) : found === undefined ? (
        <Loading lines={6} />
      ) : found.total === 0 ? (
        <Empty title={texts.empty}>
          <p class="quiet">{texts.emptyHint}</p>
        </Empty>
      ) : (
        <>
          <p role="status" class="quiet">
            {texts.total(found.total, found.totalCapped)} {found.hasMoreGroups && texts.moreGroups}{" "}
            {by === "reason" && found.groups.length > 1 && texts.several}
          </p>
          <Table
            label={texts.groups}
            columns={[...columns, ...actions]}
            rows={found.groups}
            rowKey={(one) => one.value}
          />
        </>
      )}
      {asked && <SweepDialog {...asked} onChanged={counts.reload} onClose={() => setAsked(null)} />}
    </Page>
  );
}

function GroupActions({ name, onAsked }: { name: string; onAsked: (kind: SweepKind) => void }) {
  return (
    <span class="row">
      <Button aria-label={texts.redriveGroup(name)} onClick={() => onAsked("redrive")}>
        {texts.redrive}
      </Button>
      <Button kind="quiet" aria-label={texts.discardGroup(name)} onClick={() => onAsked("discard")}>
        {texts.discard}
      </Button>
    </span>
  );
}
