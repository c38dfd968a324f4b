import type { Pages } from "../api/pages.ts";
import { Button } from "./button.tsx";
import { Problem } from "./problem.tsx";
import { texts } from "./texts.ts";

/** The end of a list that is loaded a page at a time: the next page, or why it did not come. */
export function More({ pages }: { pages: Pages<unknown> }) {
  if (pages.error !== null) {
    return <Problem error={pages.error} onRetry={pages.hasMore ? pages.loadMore : pages.reload} />;
  }
  if (!pages.hasMore) {
    return null;
  }
  return (
    <div class="row">
      <Button onClick={pages.loadMore} busy={pages.isLoading}>
        {texts.more}
      </Button>
    </div>
  );
}
