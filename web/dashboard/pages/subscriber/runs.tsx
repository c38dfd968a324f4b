import { api, dataOf } from "../../../api/client.ts";
import { usePages } from "../../../api/pages.ts";
import { ButtonLink } from "../../../ui/button.tsx";
import { More } from "../../../ui/more.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { RunTable } from "../../parts/run-table.tsx";
import { useAddress } from "../../session.ts";
import { runTexts as texts } from "../../texts/subscriber.ts";
import type { PartProps } from "./part.ts";

const PAGE = 20;

/** What was triggered for a person lately. */
export function RunsPart({ subscriber }: PartProps) {
  const address = useAddress();
  const id = subscriber.subscriberId;
  const pages = usePages(`runs of ${id}`, async (next, signal) => {
    const query = { subscriberId: [id], limit: PAGE, ...(next !== null && { cursor: next }) };
    const page = dataOf(await api.GET("/v1/runs", { params: { query }, signal }));
    return { rows: page.data, next: page.next };
  });
  return (
    <>
      <div class="row">
        <ButtonLink href={address(`/activity?subscriberId=${encodeURIComponent(id)}`)}>{texts.inActivity}</ButtonLink>
      </div>
      {pages.isFirstLoading && <Loading lines={6} />}
      {!pages.isLoading && pages.error === null && pages.rows.length === 0 && !pages.hasMore && (
        <Empty title={texts.none}>
          <p class="quiet">{texts.noneHint}</p>
        </Empty>
      )}
      {pages.rows.length > 0 && <RunTable rows={pages.rows} />}
      <More pages={pages} />
    </>
  );
}
