import { useState } from "preact/hooks";
import { useAction } from "../../api/action.ts";
import { api, dataOf } from "../../api/client.ts";
import type { components } from "../../api/schema.d.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Problem } from "../../ui/problem.tsx";
import { SubscriberPicker } from "../parts/pickers.tsx";
import { useCan, useSession } from "../session.ts";
import { texts } from "../texts/test-panel.ts";
import { Circumstances } from "./circumstances.tsx";
import { Commands } from "./commands.tsx";
import { LiveRuns } from "./live-runs.tsx";
import { newTransactionId, type Scenario, simulationBody, triggerBody, type Wishes } from "./model.ts";
import { PayloadField } from "./payload-field.tsx";
import { SimulationResult } from "./simulation-result.tsx";

export type TestPanelProps = {
  workflowId: string;
  payloadSchema: Record<string, unknown> | undefined;
  /** The steps in the editor, if they are not saved: simulations use them, triggers cannot. */
  unsavedSteps?: components["schemas"]["StepIn"][] | undefined;
  subscriberId: string;
  onSubscriberId: (subscriberId: string) => void;
  payload: Record<string, unknown>;
  onPayload: (payload: Record<string, unknown>) => void;
};

/** Tries a workflow: first what would happen, then for real, with the run shown as it goes on. */
export default function TestPanel(props: TestPanelProps) {
  const { workflowId, payloadSchema, unsavedSteps, subscriberId, onSubscriberId, payload, onPayload } = props;
  const [moment, setMoment] = useState("");
  const [wishes, setWishes] = useState<Wishes>({});
  const scenario: Scenario = { workflowId, subscriberId, payload, moment, wishes, steps: unsavedSteps };
  return (
    <div class="stack test-panel">
      <SubscriberPicker label={texts.person} hint={texts.personHint} value={subscriberId} onValue={onSubscriberId} />
      <PayloadField schema={payloadSchema} payload={payload} onPayload={onPayload} />
      <Circumstances moment={moment} onMoment={setMoment} wishes={wishes} onWishes={setWishes} />
      {unsavedSteps && <p class="small quiet">{texts.unsaved}</p>}
      <Tries scenario={scenario} />
      <Commands scenario={scenario} />
    </div>
  );
}

/** Both ways to try it side by side, and below what came of them: the run before the simulation, which is long. */
function Tries({ scenario }: { scenario: Scenario }) {
  const canSimulate = useCan("events:read");
  const simulation = useSimulation(scenario);
  const trigger = useTrigger(scenario);
  const isReady = scenario.subscriberId !== "";
  return (
    <>
      <div class="row">
        {canSimulate && (
          <Button
            kind="primary"
            busy={simulation.action.isBusy}
            disabled={!isReady}
            title={texts.simulateHint}
            onClick={() => void simulation.action.run()}
          >
            {texts.simulate}
          </Button>
        )}
        {trigger.isAllowed && (
          <Button busy={trigger.action.isBusy} disabled={!isReady} title={texts.triggerHint} onClick={trigger.ask}>
            {texts.trigger}
          </Button>
        )}
      </div>
      <p class="small quiet">
        {isReady ? (
          <>
            {canSimulate && texts.simulating} {trigger.isAllowed && texts.triggering}
          </>
        ) : (
          (canSimulate || trigger.isAllowed) && texts.choosePerson
        )}
      </p>
      {trigger.dialog}
      {trigger.action.error !== null && <Problem error={trigger.action.error} />}
      {trigger.result && <Triggered result={trigger.result} />}
      {simulation.action.error !== null && <Problem error={simulation.action.error} />}
      {simulation.result && simulation.action.error === null && (
        <section class="stack" aria-label={texts.simulation}>
          <SimulationResult simulation={simulation.result} isOutdated={simulation.isOutdated} />
        </section>
      )}
    </>
  );
}

function useSimulation(scenario: Scenario) {
  const [found, setFound] = useState<{ key: string; result: components["schemas"]["Simulation"] } | null>(null);
  const body = simulationBody(scenario);
  const key = JSON.stringify(body);
  const action = useAction(async () => {
    setFound({ key, result: dataOf(await api.POST("/v1/simulate", { body })) });
  });
  return { action, result: found?.result, isOutdated: found?.key !== key };
}

function useTrigger(scenario: Scenario) {
  const isAllowed = useCan("events:write");
  const { environment } = useSession();
  const [isAsking, setAsking] = useState(false);
  const [result, setResult] = useState<components["schemas"]["TriggerResult"] | null>(null);
  async function trigger() {
    const transactionId = newTransactionId(Date.now(), Math.random());
    const body = { ...triggerBody(scenario), transactionId };
    setResult(dataOf(await api.POST("/v1/events/trigger", { body })));
  }
  const action = useAction(trigger);
  const dialog = isAsking && (
    <Confirm title={texts.triggerTitle} action={texts.trigger} onConfirm={trigger} onClose={() => setAsking(false)}>
      <p>{texts.triggerWarning(scenario.subscriberId)}</p>
    </Confirm>
  );
  const ask = () => (environment.type === "prod" ? setAsking(true) : void action.run());
  return { isAllowed, action, ask, dialog, result };
}

function Triggered({ result }: { result: components["schemas"]["TriggerResult"] }) {
  const isRun = result.status === "processed" && result.transactionId !== undefined;
  return (
    <>
      {!isRun && <p class="field-problem">{texts.refused(texts.outcomes[result.status])}</p>}
      {result.error?.map((sentence) => (
        <p key={sentence} class="field-problem">
          {sentence}
        </p>
      ))}
      {isRun && <LiveRuns key={result.transactionId} transactionId={result.transactionId ?? ""} />}
    </>
  );
}
