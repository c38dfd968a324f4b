import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { api, dataOf } from "../../../api/client.ts";
import { curlCommand } from "../../../api/curl.ts";
import { useKept } from "../../../api/entries.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { usePages } from "../../../api/pages.ts";
import type { components } from "../../../api/schema.d.ts";
import { useUrlState } from "../../../api/url-state.ts";
import { Button } from "../../../ui/button.tsx";
import { useKey } from "../../../ui/keys.ts";
import { More } from "../../../ui/more.tsx";
import { Page } from "../../../ui/page.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { useRequested } from "../../requested.ts";
import { useAddress, useCan } from "../../session.ts";
import { texts } from "../../texts/workflows.ts";
import { CreateWorkflow } from "./create-workflow.tsx";
import { focusSearch, WorkflowFilters } from "./filters.tsx";
import { groupsOf, rangeOf, startOf } from "./model.ts";
import { WorkflowTable } from "./workflow-table.tsx";

type Order = components["schemas"]["WorkflowOrder"];

const PAGE_SIZE = 50;
const MAX_WORKFLOWS_OF_ACTIVITY = 50;

export default function WorkflowsPage() {
  const [isCreating, setCreating] = useState(false);
  const canWrite = useCan("workflows:write");
  useRequested("create", canWrite, () => setCreating(true));
  const { route } = useLocation();
  const address = useAddress();
  useKey("/", focusSearch);
  const create = canWrite && (
    <Button kind="primary" onClick={() => setCreating(true)}>
      {texts.create}
    </Button>
  );
  return (
    <Page title={texts.title} actions={create}>
      <WorkflowList create={create} />
      {isCreating && (
        <CreateWorkflow
          onClose={() => setCreating(false)}
          onCreated={(workflowId, step) => {
            const query = step === undefined ? "" : `?step=${encodeURIComponent(step)}`;
            route(address(`/workflows/${encodeURIComponent(workflowId)}${query}`));
          }}
        />
      )}
    </Page>
  );
}

function WorkflowList({ create }: { create: preact.ComponentChildren }) {
  const state = useUrlState();
  const [total, setTotal] = useKept("total", 0);
  const filters = { query: state.get("q"), tag: state.get("tag"), status: state.get("state") };
  const order = (state.get("sort") || "createdAt") as Order;
  const key = JSON.stringify([filters, order]);
  const pages = usePages(key, async (next, signal) => {
    const offset = Number(next ?? 0);
    const query = {
      limit: PAGE_SIZE,
      offset,
      orderBy: order,
      orderDirection: order === "name" ? ("ASC" as const) : ("DESC" as const),
      ...(filters.query && { query: filters.query }),
      ...(filters.tag && { tags: [filters.tag] }),
      ...(filters.status && { status: [filters.status as components["schemas"]["WorkflowStatus"]] }),
    };
    const found = dataOf(await api.GET("/v2/workflows", { params: { query }, signal }));
    setTotal(found.totalCount);
    const end = offset + found.workflows.length;
    return { rows: found.workflows, next: end < found.totalCount ? String(end) : null };
  });
  const activity = useActivity(pages.rows.map((row) => row.workflowId));
  const isFiltered = Object.values(filters).some((one) => one !== "");

  if (pages.isFirstLoading) {
    return <Loading lines={8} />;
  }
  if (pages.rows.length === 0 && !isFiltered && pages.error === null) {
    return (
      <Empty title={texts.emptyTitle} command={exampleCommand()}>
        <p class="quiet">{texts.emptyHint}</p>
        {create}
      </Empty>
    );
  }
  return (
    <>
      <WorkflowFilters total={total} />
      {pages.rows.length === 0 && pages.error === null ? (
        <Empty title={texts.noMatchTitle}>
          <p class="quiet">{texts.noMatchHint}</p>
          <Button onClick={() => state.set({ q: "", tag: "", state: "" })}>{texts.clear}</Button>
        </Empty>
      ) : (
        <WorkflowTable rows={pages.rows} activity={activity} onChanged={pages.reload} />
      )}
      <More pages={pages} />
    </>
  );
}

/** The activity of workflows in the chosen time, by their identifiers. */
function useActivity(workflowIds: readonly string[]) {
  const state = useUrlState();
  const range = rangeOf(state.get("range"));
  const canRead = useCan("events:read");
  const load = async (signal: AbortSignal) => {
    const after = startOf(range, Date.now());
    const answers = groupsOf(canRead ? workflowIds : [], MAX_WORKFLOWS_OF_ACTIVITY).map(async (ids) =>
      dataOf(await api.GET("/v1/workflows/activity", { params: { query: { after, workflowIds: ids } }, signal })),
    );
    return new Map((await Promise.all(answers)).flat().map((one) => [one.workflowId, one]));
  };
  return useLoaded(JSON.stringify([range, workflowIds]), load, { isKept: true });
}

function exampleCommand(): string {
  const step = { name: "Inbox", type: "in_app", controlValues: texts.starters.in_app };
  const body = { name: texts.example, workflowId: "welcome", active: true, steps: [step] };
  return curlCommand({ method: "POST", path: "/v2/workflows", body });
}
