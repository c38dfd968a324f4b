/** The messages of the outbox; new ones appear at the top by themselves. */
import { useEffect, useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { type Pages, usePages } from "../../../api/pages.ts";
import type { Message } from "../../message/model.ts";
import { type Filter, newestFirst } from "./model.ts";

const PAGE = 30;
const LOOK_EVERY = 3000;

export type Outbox = { pages: Pages<Message>; messages: readonly Message[] };

export function useOutbox(filter: Filter): Outbox {
  const key = `outbox ${filter.channel} ${filter.recipient}`;
  const pages = usePages<Message>(key, async (next, signal) => {
    const page = await loadPage(filter, Number(next ?? 0), signal);
    return { rows: page.data, next: page.hasMore ? String(page.page + 1) : null };
  });
  const fresh = useNewest(key, filter);
  return { pages, messages: newestFirst(fresh, pages.rows) };
}

/** Look for new messages while the page is seen, without loading what is shown again. */
function useNewest(key: string, filter: Filter): readonly Message[] {
  const [found, setFound] = useState<{ key: string; rows: readonly Message[] }>({ key, rows: [] });
  useEffect(() => {
    const controller = new AbortController();
    const timer = setInterval(async () => {
      if (document.visibilityState !== "visible") {
        return;
      }
      // A look that fails is followed by another one.
      const page = await loadPage(filter, 0, controller.signal).catch(() => null);
      if (page && !controller.signal.aborted) {
        setFound((now) => ({ key, rows: newestFirst(page.data, now.key === key ? now.rows : []) }));
      }
    }, LOOK_EVERY);
    return () => {
      clearInterval(timer);
      controller.abort();
    };
  }, [key]);
  return found.key === key ? found.rows : [];
}

async function loadPage({ channel, recipient }: Filter, page: number, signal: AbortSignal) {
  const query = { page, limit: PAGE, ...(channel && { channel }), ...(recipient && { recipient }) };
  return dataOf(await api.GET("/v1/outbox", { params: { query }, signal }));
}
