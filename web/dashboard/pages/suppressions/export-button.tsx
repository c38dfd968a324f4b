import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { writeCsv } from "../../../ui/csv.ts";
import { download } from "../../../ui/download.ts";
import { notify } from "../../../ui/notices.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { texts } from "../../texts/suppressions.ts";
import { CSV_COLUMNS, csvRow, type queryOf } from "./model.ts";

const PAGE_SIZE = 5000;

/** Saves all addresses that the filters match as a file, page after page. */
export function ExportButton({ query }: { query: ReturnType<typeof queryOf> }) {
  const [count, setCount] = useState(0);
  const { channel, reason } = query;
  const exporting = useAction(async () => {
    const rows: Record<string, string>[] = [];
    let after: string | undefined;
    do {
      const wanted = { ...(channel && { channel }), ...(reason && { reason }), ...(after && { after }) };
      const params = { query: { ...wanted, limit: PAGE_SIZE } };
      const page = dataOf(await api.GET("/v1/suppressions/export", { params }));
      rows.push(...page.data.map(csvRow));
      setCount(rows.length);
      after = page.next ?? undefined;
    } while (after);
    download(texts.fileName, writeCsv(CSV_COLUMNS, rows), "text/csv");
    notify(texts.exported(rows.length));
  });
  return (
    <>
      <Button onClick={() => exporting.run()} busy={exporting.isBusy}>
        {exporting.isBusy ? texts.exporting(count) : texts.exportAction}
      </Button>
      {exporting.error !== null && <Problem error={exporting.error} />}
    </>
  );
}
