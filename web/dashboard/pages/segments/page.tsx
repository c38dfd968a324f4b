import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { api, dataOf } from "../../../api/client.ts";
import { curlCommand } from "../../../api/curl.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { useUrlState } from "../../../api/url-state.ts";
import { Button } from "../../../ui/button.tsx";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { Cut, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { Pager, useCursor } from "../../parts/pager.tsx";
import { segmentPath } from "../../parts/person.ts";
import { SearchBox } from "../../parts/search-box.tsx";
import { useRequested } from "../../requested.ts";
import { useAddress, useCan } from "../../session.ts";
import { texts } from "../../texts/segments.ts";
import { CreateSegment } from "./create-segment.tsx";
import type { Segment } from "./model.ts";

const PAGE = 50;
const EXAMPLE = {
  key: "gold-members",
  name: "Gold members",
  condition: { "==": [{ var: "subscriber.data.plan" }, "gold"] },
};

export default function SegmentsPage() {
  const canWrite = useCan("segments:write");
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
      <SegmentList create={create} />
      {isCreating && (
        <CreateSegment onClose={() => setCreating(false)} onCreated={(key) => route(address(segmentPath(key)))} />
      )}
    </Page>
  );
}

function SegmentList({ create }: { create: preact.ComponentChildren }) {
  const text = useUrlState().get("q");
  const query = { ...useCursor(), limit: PAGE, ...(text && { search: text }) };
  const segments = useLoaded(
    `segments ${JSON.stringify(query)}`,
    async (signal) => dataOf(await api.GET("/v1/segments", { params: { query }, signal })),
    { isKept: true },
  );
  if (segments.error) {
    return <Problem error={segments.error} onRetry={segments.reload} />;
  }
  if (!segments.data) {
    return <Loading lines={6} />;
  }
  if (segments.data.totalCount === 0) {
    return text ? (
      <Empty title={texts.nothing(text)} />
    ) : (
      <Empty title={texts.empty} command={curlCommand({ method: "POST", path: "/v1/segments", body: EXAMPLE })}>
        <p class="quiet">{texts.emptyHint}</p>
        {create}
      </Empty>
    );
  }
  return (
    <>
      <SegmentTable segments={segments.data.data} />
      <Pager page={segments.data} count={texts.count} />
    </>
  );
}

function SegmentTable({ segments }: { segments: readonly Segment[] }) {
  const address = useAddress();
  const columns = [
    {
      name: "name",
      title: texts.name,
      show: (one: Segment) => (
        <>
          <a href={address(segmentPath(one.key))}>
            <bdi>{one.name}</bdi>
          </a>
          {one.description && (
            <div class="small quiet">
              <bdi>{one.description}</bdi>
            </div>
          )}
        </>
      ),
    },
    { name: "key", title: texts.key, show: (one: Segment) => <Cut text={one.key} isCode /> },
    { name: "changed", title: texts.changedAt, show: (one: Segment) => <Time at={one.updatedAt} /> },
  ];
  return <Table label={texts.title} columns={columns} rows={segments} rowKey={(one) => one._id} />;
}
