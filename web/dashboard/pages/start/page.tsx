import { useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { useSession } from "../../session.ts";
import { texts } from "../../texts/start.ts";
import { Checklist } from "./checklist.tsx";
import { type Facts, hasOwnProvider, listDone, nextStep } from "./model.ts";
import { Overview } from "./overview.tsx";

const HIDDEN = "clarion-steps-hidden";

/** The first steps while there are any left, and what happens once there is something. */
export default function StartPage() {
  const { environment } = useSession();
  const facts = useLoaded("facts", loadFacts);
  const [isHidden, setHidden] = useState(() => readHidden().includes(environment.identifier));
  const hasSteps = facts.data !== undefined && nextStep(listDone(facts.data)) !== undefined;

  function hide(hidden: boolean) {
    const others = readHidden().filter((one) => one !== environment.identifier);
    localStorage.setItem(HIDDEN, JSON.stringify(hidden ? [...others, environment.identifier] : others));
    setHidden(hidden);
  }

  return (
    <Page title={texts.title} lead={<bdi>{texts.lead(environment.name)}</bdi>}>
      {facts.error !== undefined && <Problem error={facts.error} onRetry={facts.reload} />}
      {!facts.data && !facts.error && <Loading lines={5} />}
      {facts.data && hasSteps && !isHidden && (
        <Checklist facts={facts.data} onChange={facts.reload} onHide={() => hide(true)} />
      )}
      {facts.data && (facts.data.hasRun || isHidden) && <Overview />}
      {hasSteps && isHidden && (
        <p>
          <button type="button" class="link small" onClick={() => hide(false)}>
            {texts.show}
          </button>
        </p>
      )}
    </Page>
  );
}

async function loadFacts(signal: AbortSignal): Promise<Facts> {
  const one = { params: { query: { limit: 1 } }, signal };
  const [keys, people, workflows, runs, integrations] = await Promise.all([
    api.GET("/v1/environments/api-keys", { signal }),
    api.GET("/v2/subscribers", one),
    api.GET("/v2/workflows", one),
    api.GET("/v1/runs", one),
    api.GET("/v1/integrations", { signal }),
  ]);
  return {
    hasUsedKey: dataOf(keys).some((key) => key.lastUsedAt !== undefined),
    person: dataOf(people).data[0]?.subscriberId,
    workflow: dataOf(workflows).workflows[0]?.workflowId,
    hasRun: dataOf(runs).data.length > 0,
    hasProvider: hasOwnProvider(dataOf(integrations)),
  };
}

function readHidden(): string[] {
  try {
    return JSON.parse(localStorage.getItem(HIDDEN) ?? "[]");
  } catch {
    return [];
  }
}
