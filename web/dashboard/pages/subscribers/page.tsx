import { useState } from "preact/hooks";
import { useUrlState } from "../../../api/url-state.ts";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { Page } from "../../../ui/page.tsx";
import { SearchBox } from "../../parts/search-box.tsx";
import { useRequested } from "../../requested.ts";
import { useAddress, useCan } from "../../session.ts";
import { texts } from "../../texts/subscribers.ts";
import { AllSubscribers, OrderField } from "./all.tsx";
import { CreateSubscriber } from "./create.tsx";
import { FoundSubscribers } from "./found.tsx";

export default function SubscribersPage() {
  const address = useAddress();
  const canWrite = useCan("subscribers:write");
  const text = useUrlState().get("q");
  const [isCreating, setCreating] = useState(false);
  useRequested("create", canWrite, () => setCreating(true));
  const actions = canWrite && (
    <>
      <ButtonLink href={address("/subscribers/import")}>{texts.importPeople}</ButtonLink>
      <Button kind="primary" onClick={() => setCreating(true)}>
        {texts.create}
      </Button>
    </>
  );
  return (
    <Page title={texts.title} lead={texts.lead} actions={actions}>
      <div class="toolbar">
        <SearchBox label={texts.search} placeholder={texts.searchHint} />
        {!text && <OrderField />}
      </div>
      {text ? <FoundSubscribers text={text} /> : <AllSubscribers onCreate={() => setCreating(true)} />}
      {isCreating && <CreateSubscriber onClose={() => setCreating(false)} />}
    </Page>
  );
}
