import { useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { usePages } from "../../../api/pages.ts";
import { useUrlState } from "../../../api/url-state.ts";
import { optionsOf, SelectField } from "../../../ui/field.tsx";
import { More } from "../../../ui/more.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { inboxTexts as texts } from "../../texts/subscriber.ts";
import { type InboxNotification, NotificationCard } from "./notification-card.tsx";
import type { PartProps } from "./part.ts";

const PAGE = 20;

const VIEWS = {
  inbox: { archived: false, snoozed: false },
  unread: { read: false, archived: false, snoozed: false },
  archived: { archived: true },
  snoozed: { snoozed: true },
} as const;

type View = keyof typeof VIEWS;

/** The inbox as the person sees it. */
export function InboxPart({ subscriber }: PartProps) {
  const [problem, setProblem] = useState<unknown>(null);
  const url = useUrlState();
  const asked = url.get("view");
  const view: View = asked in VIEWS ? (asked as View) : "inbox";
  const path = { subscriberId: subscriber.subscriberId };
  const pages = usePages<InboxNotification>(`inbox ${subscriber._id} ${view}`, async (next, signal) => {
    const query = { ...VIEWS[view], limit: PAGE, ...(next !== null && { after: next }) };
    const page = dataOf(
      await api.GET("/v2/subscribers/{subscriberId}/notifications", { params: { path, query }, signal }),
    );
    return { rows: page.data, next: page.hasMore ? (page.data.at(-1)?.id ?? null) : null };
  });
  return (
    <>
      <div class="toolbar">
        <SelectField
          label={texts.viewsLabel}
          value={view}
          options={optionsOf(texts.views)}
          onValue={(chosen) => url.set({ view: chosen === "inbox" ? "" : chosen })}
        />
      </div>
      {problem !== null && <Problem error={problem} />}
      {pages.isFirstLoading && <Loading lines={6} />}
      {!pages.isLoading && pages.error === null && pages.rows.length === 0 && (
        <Empty title={texts.empty[view]}>
          <p class="quiet">{texts.emptyHint}</p>
        </Empty>
      )}
      {pages.rows.length > 0 && (
        <ul class="people-list" aria-label={texts.list}>
          {pages.rows.map((one) => (
            <NotificationCard
              key={one.id}
              subscriberId={subscriber.subscriberId}
              notification={one}
              onDone={() => {
                setProblem(null);
                pages.reload();
              }}
              onProblem={setProblem}
            />
          ))}
        </ul>
      )}
      <More pages={pages} />
    </>
  );
}
