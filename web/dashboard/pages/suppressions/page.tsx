import { useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { curlCommand } from "../../../api/curl.ts";
import { usePages } from "../../../api/pages.ts";
import { useUrlState } from "../../../api/url-state.ts";
import { Button } from "../../../ui/button.tsx";
import { More } from "../../../ui/more.tsx";
import { Page } from "../../../ui/page.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { useCan } from "../../session.ts";
import { texts as shellTexts } from "../../texts/shell.ts";
import { texts } from "../../texts/suppressions.ts";
import { AddDialog } from "./add-dialog.tsx";
import { ExportButton } from "./export-button.tsx";
import { FilterFields } from "./filter-fields.tsx";
import { ImportDialog } from "./import-dialog.tsx";
import { queryOf } from "./model.ts";
import { SuppressionList } from "./suppression-list.tsx";

const PAGE_SIZE = 100;

export default function SuppressionsPage() {
  const url = useUrlState();
  const canWrite = useCan("messages:write");
  const [opened, setOpened] = useState<"add" | "import" | null>(null);
  const filters = { address: url.get("address"), channel: url.get("channel"), reason: url.get("reason") };
  const query = queryOf(filters);
  const pages = usePages(JSON.stringify(query), async (next, signal) => {
    const page = Number(next ?? 0);
    const params = { query: { ...query, page, limit: PAGE_SIZE } };
    const found = dataOf(await api.GET("/v1/suppressions", { params, signal }));
    return { rows: found.data, next: found.hasMore ? String(page + 1) : null };
  });
  const isFiltered = Object.keys(query).length > 0;
  return (
    <Page
      title={shellTexts.pages.suppressions}
      lead={texts.lead}
      actions={
        <>
          <ExportButton query={query} />
          {canWrite && <Button onClick={() => setOpened("import")}>{texts.importAction}</Button>}
          {canWrite && (
            <Button kind="primary" onClick={() => setOpened("add")}>
              {texts.add}
            </Button>
          )}
        </>
      }
    >
      <FilterFields />
      {pages.isFirstLoading ? (
        <Loading lines={8} />
      ) : pages.rows.length > 0 ? (
        <SuppressionList rows={pages.rows} canWrite={canWrite} onChanged={pages.reload} />
      ) : (
        pages.error === null && <NoSuppressions isFiltered={isFiltered} canWrite={canWrite} />
      )}
      <More pages={pages} />
      {opened === "add" && <AddDialog onAdded={pages.reload} onClose={() => setOpened(null)} />}
      {opened === "import" && <ImportDialog onImported={pages.reload} onClose={() => setOpened(null)} />}
    </Page>
  );
}

function NoSuppressions({ isFiltered, canWrite }: { isFiltered: boolean; canWrite: boolean }) {
  const url = useUrlState();
  if (isFiltered) {
    return (
      <Empty title={texts.emptyFound}>
        <p class="quiet">{texts.emptyFoundHint}</p>
        <Button onClick={() => url.set({ address: "", channel: "", reason: "" })}>{texts.clearFilters}</Button>
      </Empty>
    );
  }
  const body = { channel: "email", address: "ada@example.com" };
  const command = curlCommand({ method: "POST", path: "/v1/suppressions", body });
  return (
    <Empty title={texts.empty} {...(canWrite && { command })}>
      <p class="quiet">{texts.emptyHint}</p>
    </Empty>
  );
}
