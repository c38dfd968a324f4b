import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { api, dataOf } from "../../../api/client.ts";
import { curlCommand } from "../../../api/curl.ts";
import { useLoaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { useUrlState } from "../../../api/url-state.ts";
import { Button } from "../../../ui/button.tsx";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { Cut, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { Pager, useCursor } from "../../parts/pager.tsx";
import { contextPath } from "../../parts/person.ts";
import { SearchBox } from "../../parts/search-box.tsx";
import { useRequested } from "../../requested.ts";
import { useAddress, useCan } from "../../session.ts";
import { texts } from "../../texts/contexts.ts";
import { CreateContext } from "./create-context.tsx";

type Context = components["schemas"]["Context"];

const PAGE = 50;

export default function ContextsPage() {
  const canWrite = useCan("contexts:write");
  const [isCreating, setCreating] = useState(false);
  useRequested("create", canWrite, () => setCreating(true));
  const { route } = useLocation();
  const address = useAddress();
  const create = canWrite && (
    <Button kind="primary" onClick={() => setCreating(true)}>
      {texts.create}
    </Button>
  );
  return (
    <Page title={texts.title} lead={texts.lead} actions={create}>
      <div class="toolbar">
        <SearchBox label={texts.search} placeholder={texts.searchHint} />
      </div>
      <ContextList create={create} />
      {isCreating && (
        <CreateContext
          onClose={() => setCreating(false)}
          onCreated={(type, id) => route(address(contextPath(type, id)))}
        />
      )}
    </Page>
  );
}

function ContextList({ create }: { create: preact.ComponentChildren }) {
  const text = useUrlState().get("q");
  const query = { ...useCursor(), limit: PAGE, ...(text && { search: text }) };
  const contexts = useLoaded(
    `contexts ${JSON.stringify(query)}`,
    async (signal) => dataOf(await api.GET("/v2/contexts", { params: { query }, signal })),
    { isKept: true },
  );
  if (contexts.error) {
    return <Problem error={contexts.error} onRetry={contexts.reload} />;
  }
  if (!contexts.data) {
    return <Loading lines={6} />;
  }
  if (contexts.data.totalCount === 0) {
    const body = { type: "tenant", id: "acme", data: { name: "Acme" } };
    return text ? (
      <Empty title={texts.nothing(text)} />
    ) : (
      <Empty title={texts.empty} command={curlCommand({ method: "POST", path: "/v2/contexts", body })}>
        <p class="quiet">{texts.emptyHint}</p>
        {create}
      </Empty>
    );
  }
  return (
    <>
      <ContextTable contexts={contexts.data.data} />
      <Pager page={contexts.data} count={texts.count} />
    </>
  );
}

function ContextTable({ contexts }: { contexts: readonly Context[] }) {
  const address = useAddress();
  const columns = [
    { name: "type", title: texts.type, show: (row: Context) => <code>{row.type}</code> },
    {
      name: "id",
      title: texts.id,
      show: (row: Context) => (
        <a href={address(contextPath(row.type, row.id))}>
          <bdi>{row.id}</bdi>
        </a>
      ),
    },
    { name: "data", title: texts.data, show: (row: Context) => <Cut text={JSON.stringify(row.data)} isCode /> },
    { name: "updated", title: texts.updated, show: (row: Context) => <Time at={row.updatedAt} /> },
  ];
  return <Table label={texts.title} columns={columns} rows={contexts} rowKey={(row) => `${row.type}:${row.id}`} />;
}
