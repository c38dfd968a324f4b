import { useUrlState } from "../../api/url-state.ts";
import { Button } from "../../ui/button.tsx";
import { texts } from "../texts/people.ts";

export type CursorPage = {
  next: string | null;
  previous: string | null;
  totalCount: number;
  totalCountCapped: boolean;
};

/** What to ask a list for, as the address says it. */
export function useCursor(): { after?: string; before?: string } {
  const url = useUrlState();
  const after = url.get("after");
  const before = url.get("before");
  return after ? { after } : before ? { before } : {};
}

/** The way through a long list: a page at a time, each with its address. */
export function Pager({ page, count }: { page: CursorPage; count: (total: number, isCapped: boolean) => string }) {
  const url = useUrlState();
  function go(values: { after?: string; before?: string }) {
    url.set({ after: values.after, before: values.before }, { push: true });
    scrollTo({ top: 0 });
  }
  return (
    <nav class="row spread" aria-label={texts.pager}>
      <span class="small quiet">{count(page.totalCount, page.totalCountCapped)}</span>
      {(page.previous || page.next) && (
        <span class="row">
          <Button disabled={page.previous === null} onClick={() => page.previous && go({ before: page.previous })}>
            {texts.previous}
          </Button>
          <Button disabled={page.next === null} onClick={() => page.next && go({ after: page.next })}>
            {texts.next}
          </Button>
        </span>
      )}
    </nav>
  );
}
