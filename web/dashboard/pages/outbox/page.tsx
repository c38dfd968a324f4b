import { useRef } from "preact/hooks";
import { curlCommand } from "../../../api/curl.ts";
import { useUrlState } from "../../../api/url-state.ts";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { useKey } from "../../../ui/keys.ts";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/outbox.ts";
import { texts as shellTexts } from "../../texts/shell.ts";
import { Filters } from "./filters.tsx";
import { MessageList } from "./list.tsx";
import { type Outbox, useOutbox } from "./loading.ts";
import { neighbourOf, readFilter } from "./model.ts";
import { Opened } from "./opened.tsx";

/** What the built-in providers would have sent, as a mail program shows it. */
export default function OutboxPage() {
  const url = useUrlState();
  const filter = readFilter(url.get);
  const outbox = useOutbox(filter);
  const isFiltered = filter.channel !== "" || filter.recipient !== "";
  return (
    <Page
      title={shellTexts.pages.outbox}
      lead={texts.lead}
      actions={
        <Button onClick={outbox.pages.reload} busy={outbox.pages.isLoading}>
          {texts.refresh}
        </Button>
      }
    >
      <Filters filter={filter} onFilter={(changed) => url.set({ ...changed, message: "" })} />
      <Content outbox={outbox} isFiltered={isFiltered} />
    </Page>
  );
}

function Content({ outbox, isFiltered }: { outbox: Outbox; isFiltered: boolean }) {
  const url = useUrlState();
  const chosen = url.get("message");
  const { pages, messages } = outbox;
  if (messages.length === 0 && chosen === "") {
    if (pages.error !== null) {
      return <Problem error={pages.error} onRetry={pages.reload} />;
    }
    if (pages.isLoading) {
      return <Loading lines={6} />;
    }
    return isFiltered ? <NothingFound /> : <NothingSent />;
  }
  return <Panes outbox={outbox} chosen={chosen} />;
}

/** The list at the left and the message at the right; on a narrow screen one of them. */
function Panes({ outbox, chosen }: { outbox: Outbox; chosen: string }) {
  const url = useUrlState();
  // The newest message is shown at first; newer ones do not take its place.
  const first = useRef("");
  const newest = outbox.messages[0]?._id ?? "";
  if (!outbox.messages.some((one) => one._id === first.current)) {
    first.current = newest;
  }
  const shown = chosen || first.current;
  const move = (step: 1 | -1) => {
    const next = neighbourOf(
      outbox.messages.map((one) => one._id),
      shown,
      step,
    );
    if (next) {
      url.set({ message: next });
    }
  };
  useKey("j", () => move(1));
  useKey("k", () => move(-1));
  return (
    <div class={`outbox ${chosen ? "outbox-chosen" : ""}`}>
      <MessageList outbox={outbox} shown={shown} />
      <Opened id={shown} isChosen={chosen !== ""} onBack={() => url.set({ message: "" })} />
    </div>
  );
}

function NothingFound() {
  const url = useUrlState();
  return (
    <Empty title={texts.nothingFound}>
      <p>{texts.nothingFoundHint}</p>
      <Button onClick={() => url.set({ channel: "", recipient: "" })}>{texts.clear}</Button>
    </Empty>
  );
}

function NothingSent() {
  const address = useAddress();
  const body = { name: "welcome", to: { subscriberId: "ada", email: "ada@example.com" }, payload: {} };
  return (
    <Empty title={texts.empty} command={curlCommand({ method: "POST", path: "/v1/events/trigger", body })}>
      <p>{texts.emptyHint}</p>
      <p class="row">
        <ButtonLink href={address("/integrations")}>{texts.toIntegrations}</ButtonLink>
        <ButtonLink href={address("/workflows")}>{texts.toWorkflows}</ButtonLink>
      </p>
    </Empty>
  );
}
