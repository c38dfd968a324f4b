import { api, dataOf } from "../../../api/client.ts";
import { usePages } from "../../../api/pages.ts";
import { useUrlState } from "../../../api/url-state.ts";
import { Button } from "../../../ui/button.tsx";
import { More } from "../../../ui/more.tsx";
import { Page } from "../../../ui/page.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { texts } from "../../texts/audit-log.ts";
import { Entry } from "./entry.tsx";
import { AuditFilters, readFilters } from "./filters.tsx";

const PAGE = 50;

export default function AuditLogPage() {
  const url = useUrlState();
  const filters = readFilters(url);
  const entries = usePages(JSON.stringify(filters), async (next, signal) => {
    const query = { ...filters, limit: PAGE, ...(next !== null && { after: next }) };
    const page = dataOf(await api.GET("/v1/audit-log", { params: { query }, signal }));
    return { rows: page.data, next: page.next };
  });
  const isFiltered = Object.keys(filters).length > 0;
  const clear = () => url.set({ targetType: "", actorType: "", targetId: "", from: "", to: "" });

  return (
    <Page title={texts.title} lead={texts.lead}>
      <AuditFilters url={url} />
      {entries.isFirstLoading && <Loading lines={8} />}
      {!entries.isLoading && entries.error === null && entries.rows.length === 0 && (
        <Empty title={texts.emptyTitle}>
          <p class="quiet">{texts.emptyHint}</p>
          {isFiltered && <Button onClick={clear}>{texts.clear}</Button>}
        </Empty>
      )}
      <ol class="entries" aria-label={texts.label}>
        {entries.rows.map((entry) => (
          <Entry key={entry._id} entry={entry} />
        ))}
      </ol>
      <More pages={entries} />
    </Page>
  );
}
