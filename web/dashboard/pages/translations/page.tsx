import { useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { type Pages, usePages } from "../../../api/pages.ts";
import type { components } from "../../../api/schema.d.ts";
import { useUrlState } from "../../../api/url-state.ts";
import { Button } from "../../../ui/button.tsx";
import { More } from "../../../ui/more.tsx";
import { Page } from "../../../ui/page.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { Status } from "../../../ui/status.tsx";
import { Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { SearchBox } from "../../parts/search-box.tsx";
import { useAddress, useCan } from "../../session.ts";
import { texts } from "../../texts/translations.ts";
import { ExportAll, ImportAll } from "./all-texts.tsx";
import { Languages } from "./languages.tsx";

type Group = components["schemas"]["TranslationGroup"];

const PAGE_SIZE = 50;

export default function TranslationsPage() {
  const canWrite = useCan("workflows:write");
  const [open, setOpen] = useState<"import" | "export" | null>(null);
  const [round, setRound] = useState(0);
  const settings = useLoaded(
    "languages",
    async (signal) => dataOf(await api.GET("/v1/organizations/settings", { signal })).data,
  );
  const locales = settings.data ? [settings.data.defaultLocale, ...settings.data.targetLocales] : [];
  const changed = () => setRound((number) => number + 1);
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      actions={
        <>
          {canWrite && <Button onClick={() => setOpen("import")}>{texts.importAll}</Button>}
          <Button onClick={() => setOpen("export")}>{texts.exportAll}</Button>
        </>
      }
    >
      <Languages
        settings={settings}
        onSaved={async () => {
          await settings.reload();
          changed();
        }}
      />
      <Groups key={round} />
      {open === "import" && <ImportAll locales={locales} onImported={changed} onClose={() => setOpen(null)} />}
      {open === "export" && <ExportAll locales={locales} onClose={() => setOpen(null)} />}
    </Page>
  );
}

function Groups() {
  const text = useUrlState().get("q");
  const pages = usePages(text, async (next, signal) => {
    const offset = Number(next ?? 0);
    const query = { limit: PAGE_SIZE, offset, ...(text && { query: text }) };
    const found = dataOf(await api.GET("/v2/translations/list", { params: { query }, signal }));
    const end = offset + found.data.length;
    return { rows: found.data, next: end < found.total ? String(end) : null };
  });
  if (pages.isFirstLoading) {
    return <Loading lines={6} />;
  }
  const isEmpty = pages.rows.length === 0 && pages.error === null;
  if (isEmpty && !text) {
    return (
      <Empty title={texts.empty}>
        <p class="quiet">{texts.emptyHint}</p>
      </Empty>
    );
  }
  return (
    <>
      <div class="toolbar">
        <SearchBox label={texts.search} placeholder={texts.searchHint} />
      </div>
      {isEmpty ? <Empty title={texts.nothing(text)} /> : <GroupTable pages={pages} />}
      <More pages={pages} />
    </>
  );
}

function GroupTable({ pages }: { pages: Pages<Group> }) {
  const address = useAddress();
  const columns = [
    {
      name: "name",
      title: texts.name,
      show: (row: Group) => (
        <a href={address(`/translations/${row.resourceType}/${encodeURIComponent(row.resourceId)}`)}>
          <bdi>{row.resourceName}</bdi>
        </a>
      ),
    },
    { name: "kind", title: texts.kindTitle, show: (row: Group) => texts.kinds[row.resourceType] },
    { name: "languages", title: texts.languages, show: (row: Group) => row.locales.join(", ") },
    { name: "state", title: texts.state, show: (row: Group) => <State outdated={row.outdatedLocales ?? []} /> },
    { name: "updated", title: texts.updated, show: (row: Group) => <Time at={row.updatedAt} /> },
  ];
  const rowKey = (row: Group) => `${row.resourceType}/${row.resourceId}`;
  return <Table label={texts.title} columns={columns} rows={pages.rows} rowKey={rowKey} />;
}

function State({ outdated }: { outdated: readonly string[] }) {
  return outdated.length === 0 ? (
    <Status tone="good">{texts.complete}</Status>
  ) : (
    <span title={outdated.join(", ")}>
      <Status tone="warn">{texts.outdated(outdated.length)}</Status>
    </span>
  );
}
