import { useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { usePages } from "../../../api/pages.ts";
import { changeQuery, useUrlState } from "../../../api/url-state.ts";
import { Button } from "../../../ui/button.tsx";
import { More } from "../../../ui/more.tsx";
import { Page } from "../../../ui/page.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { Status } from "../../../ui/status.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { useAddress, useCan } from "../../session.ts";
import { texts } from "../../texts/dead-letters.ts";
import { useGroupName } from "./group-name.ts";
import { LetterDialog } from "./letter-dialog.tsx";
import { type DeadLetter, filterOf, type Grouping } from "./model.ts";
import { SweepDialog, type SweepKind } from "./sweep-dialog.tsx";

const PAGE_SIZE = 50;

/** The letters of one group, the newest first. */
export function LettersView({ by, group }: { by: Grouping; group: string }) {
  const address = useAddress();
  const url = useUrlState();
  const canWrite = useCan("events:write");
  const nameOf = useGroupName(by);
  const [asked, setAsked] = useState<SweepKind | null>(null);
  const filter = filterOf(by, group);
  const count = useLoaded(`count ${by} ${group}`, async (signal) =>
    dataOf(await api.GET("/v1/dead-letters/counts", { params: { query: { ...filter, groupBy: by } }, signal })),
  );
  const pages = usePages(`${by} ${group}`, async (next, signal) => {
    const page = Number(next ?? 0);
    const query = { ...filter, page, limit: PAGE_SIZE };
    const found = dataOf(await api.GET("/v1/dead-letters", { params: { query }, signal }));
    return { rows: found.data, next: found.hasMore ? String(page + 1) : null };
  });
  function reload() {
    pages.reload();
    count.reload();
  }
  const letter = url.get("letter");
  const here = new URLSearchParams({ by, group });
  return (
    <Page
      title={texts.inGroup(nameOf(group))}
      lead={
        <span class="row">
          <a href={address(by === "reason" ? "/dead-letters" : `/dead-letters?by=${by}`)}>{texts.allGroups}</a>
          {count.data && <span role="status">{texts.total(count.data.total, count.data.totalCapped)}</span>}
        </span>
      }
      actions={
        <>
          <Button kind="quiet" onClick={reload}>
            {texts.refresh}
          </Button>
          {canWrite && count.data && count.data.total > 0 && (
            <>
              <Button kind="danger" onClick={() => setAsked("discard")}>
                {texts.discard}
              </Button>
              <Button kind="primary" onClick={() => setAsked("redrive")}>
                {texts.redrive}
              </Button>
            </>
          )}
        </>
      }
    >
      {pages.isFirstLoading ? (
        <Loading lines={6} />
      ) : pages.rows.length > 0 ? (
        <Letters rows={pages.rows} hrefOf={(id) => address(`/dead-letters?${changeQuery(here, { letter: id })}`)} />
      ) : (
        pages.error === null && (
          <Empty title={texts.emptyGroup}>
            <p class="quiet">{texts.emptyGroupHint}</p>
            <a href={address(`/dead-letters?by=${by}`)}>{texts.allGroups}</a>
          </Empty>
        )
      )}
      <More pages={pages} />
      {asked && count.data && (
        <SweepDialog
          kind={asked}
          selection={filter}
          count={count.data.total}
          isCapped={count.data.totalCapped}
          onChanged={reload}
          onClose={() => setAsked(null)}
        />
      )}
      {letter !== "" && <LetterDialog id={letter} onChanged={reload} onClose={() => url.set({ letter: "" })} />}
    </Page>
  );
}

function Letters({ rows, hrefOf }: { rows: readonly DeadLetter[]; hrefOf: (id: string) => string }) {
  const columns: Column<DeadLetter>[] = [
    {
      name: "person",
      title: texts.person,
      show: (one) => (
        <a href={hrefOf(one._id)} aria-label={texts.openOne(one.subscriberId)}>
          <bdi>{one.subscriberId}</bdi>
        </a>
      ),
    },
    { name: "when", title: texts.when, show: (one) => <Time at={one.diedAt} /> },
    { name: "workflow", title: texts.workflow, show: (one) => one.workflowId },
    {
      name: "error",
      title: texts.error,
      show: (one) => (
        <span class="dead-letters-error">
          {one.errors.map((error) => (
            <bdi key={error}>{error}</bdi>
          ))}
          {one.possiblyDelivered && <Status tone="warn">{texts.maybe}</Status>}
        </span>
      ),
    },
    { name: "attempts", title: texts.attempts, show: (one) => texts.countOf(one.attempts) },
  ];
  return <Table label={texts.list} columns={columns} rows={rows} rowKey={(one) => one._id} />;
}
