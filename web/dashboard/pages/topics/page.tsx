import { useState } from "preact/hooks";
import { useUrlState } from "../../../api/url-state.ts";
import { Button } from "../../../ui/button.tsx";
import { Page } from "../../../ui/page.tsx";
import { SearchBox } from "../../parts/search-box.tsx";
import { useCan } from "../../session.ts";
import { texts } from "../../texts/topics.ts";
import { AllTopics } from "./all.tsx";
import { CreateTopic } from "./create.tsx";
import { FoundTopics } from "./found.tsx";

export default function TopicsPage() {
  const canWrite = useCan("topics:write");
  const text = useUrlState().get("q");
  const [isCreating, setCreating] = useState(false);
  const create = canWrite ? () => setCreating(true) : undefined;
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      actions={
        create && (
          <Button kind="primary" onClick={create}>
            {texts.create}
          </Button>
        )
      }
    >
      <div class="toolbar">
        <SearchBox label={texts.search} placeholder={texts.searchHint} />
      </div>
      {text ? <FoundTopics text={text} /> : <AllTopics onCreate={create} />}
      {isCreating && <CreateTopic onClose={() => setCreating(false)} />}
    </Page>
  );
}
