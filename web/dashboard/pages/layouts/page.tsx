import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { api, dataOf } from "../../../api/client.ts";
import { curlCommand } from "../../../api/curl.ts";
import { type Pages, usePages } from "../../../api/pages.ts";
import type { components } from "../../../api/schema.d.ts";
import { useUrlState } from "../../../api/url-state.ts";
import { Button } from "../../../ui/button.tsx";
import { More } from "../../../ui/more.tsx";
import { Page } from "../../../ui/page.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { Status } from "../../../ui/status.tsx";
import { actionsColumn, type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { LayoutActions } from "../../layouts/layout-actions.tsx";
import { SearchBox } from "../../parts/search-box.tsx";
import { useRequested } from "../../requested.ts";
import { useAddress, useCan } from "../../session.ts";
import { texts } from "../../texts/layouts.ts";
import { CreateLayout } from "./create-layout.tsx";

type Layout = components["schemas"]["Layout"];

const PAGE_SIZE = 50;

export default function LayoutsPage() {
  const canWrite = useCan("workflows:write");
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
      <LayoutList create={create} />
      {isCreating && (
        <CreateLayout
          onClose={() => setCreating(false)}
          onCreated={(layoutId) => route(address(`/layouts/${encodeURIComponent(layoutId)}`))}
        />
      )}
    </Page>
  );
}

function LayoutList({ create }: { create: preact.ComponentChildren }) {
  const text = useUrlState().get("q");
  const pages = usePages(text, async (next, signal) => {
    const offset = Number(next ?? 0);
    const query = { limit: PAGE_SIZE, offset, ...(text && { query: text }) };
    const found = dataOf(await api.GET("/v2/layouts", { params: { query }, signal }));
    const end = offset + found.layouts.length;
    return { rows: found.layouts, next: end < found.totalCount ? String(end) : null };
  });
  if (pages.isFirstLoading) {
    return <Loading lines={6} />;
  }
  const isEmpty = pages.rows.length === 0 && pages.error === null;
  if (isEmpty && !text) {
    const body = { name: texts.example, layoutId: "newsletter" };
    return (
      <Empty title={texts.empty} command={curlCommand({ method: "POST", path: "/v2/layouts", body })}>
        <p class="quiet">{texts.emptyHint}</p>
        {create}
      </Empty>
    );
  }
  return (
    <>
      <div class="toolbar">
        <SearchBox label={texts.search} placeholder={texts.searchHint} />
      </div>
      {isEmpty ? <Empty title={texts.nothing(text)} /> : <LayoutTable pages={pages} />}
      <More pages={pages} />
    </>
  );
}

function LayoutTable({ pages }: { pages: Pages<Layout> }) {
  const canWrite = useCan("workflows:write");
  const address = useAddress();
  const columns: Column<Layout>[] = [
    {
      name: "name",
      title: texts.name,
      show: (row) => (
        <span class="row">
          <a href={address(`/layouts/${encodeURIComponent(row.layoutId)}`)}>
            <bdi>{row.name}</bdi>
          </a>
          {row.isDefault && <Status tone="good">{texts.default}</Status>}
        </span>
      ),
    },
    { name: "identifier", title: texts.identifier, show: (row) => <code>{row.layoutId}</code> },
    { name: "updated", title: texts.updated, show: (row) => <Time at={row.updatedAt} /> },
    ...actionsColumn<Layout>(canWrite && ((row) => <LayoutActions layout={row} onChanged={pages.reload} />)),
  ];
  return <Table label={texts.title} columns={columns} rows={pages.rows} rowKey={(row) => row._id} />;
}
