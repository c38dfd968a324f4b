import { useRoute } from "preact-iso/router";
import { useUrlState } from "../../../api/url-state.ts";
import { Json } from "../../../ui/json.tsx";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { useAddress, useCan } from "../../session.ts";
import { texts } from "../../texts/run.ts";
import { texts as shellTexts } from "../../texts/shell.ts";
import { RunActions } from "./actions.tsx";
import { Facts, Lead } from "./facts.tsx";
import { useRun } from "./loading.ts";
import { overridesOf, personOf, type RunData, versionOf } from "./model.ts";
import { Steps } from "./steps.tsx";
import { VersionRan } from "./version.tsx";

/** One run: what was decided and sent, why, and what can be done about it. */
export default function RunPage() {
  const { runId = "" } = useRoute().params;
  const canReadMessages = useCan("messages:read");
  const run = useRun(runId, canReadMessages);
  const { data } = run;
  const back = { href: useAddress()("/activity"), label: texts.back };
  if (!data) {
    return (
      <Page title={shellTexts.pages.run} back={back}>
        {run.error ? <Problem error={run.error} onRetry={run.reload} /> : <Loading lines={8} />}
      </Page>
    );
  }
  const title = texts.title(data.event.template.name, personOf(data.event));
  return (
    <Page
      title={title}
      back={back}
      lead={<Lead data={data} connection={run.connection} />}
      actions={<RunActions data={data} onChange={run.reload} />}
    >
      {run.error != null && <Problem error={run.error} onRetry={run.reload} />}
      <div class="run">
        <Facts data={data} />
        <RunBody data={data} />
      </div>
    </Page>
  );
}

function RunBody({ data }: { data: RunData }) {
  const url = useUrlState();
  const version = versionOf(data.decisions);
  return (
    <div class="stack">
      <Steps data={data} openMessage={url.get("message")} />
      <Request data={data} />
      {version !== undefined && (
        <VersionRan workflowId={data.event.template.triggers[0]?.identifier ?? ""} version={version} />
      )}
    </div>
  );
}

function Request({ data }: { data: RunData }) {
  const overrides = overridesOf(data.event);
  return (
    <section class="stack panel">
      <h2>{texts.request}</h2>
      <h3>{texts.payload}</h3>
      <Json label={texts.payload} value={data.event.payload} />
      {overrides && (
        <>
          <h3>{texts.overrides}</h3>
          <Json label={texts.overrides} value={overrides} />
        </>
      )}
    </section>
  );
}
