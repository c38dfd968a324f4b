import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Progress } from "../../../ui/progress.tsx";
import { Commands } from "../../parts/commands.tsx";
import { useAddress, useCan } from "../../session.ts";
import { texts } from "../../texts/start.ts";
import { commandsOf } from "./commands.ts";
import { DemoLink } from "./demo-link.tsx";
import { type DoableStep, perform, SCOPES } from "./doing.ts";
import { type Facts, listDone, nextStep, STEPS, type StepName } from "./model.ts";

type ChecklistProps = { facts: Facts; onChange: () => void; onHide: () => void };

/** The first steps; the next one is open, the others open on a click. */
export function Checklist({ facts, onChange, onHide }: ChecklistProps) {
  const done = listDone(facts);
  const next = nextStep(done);
  const [opened, setOpened] = useState<StepName | null>(null);
  const open = opened ?? next;
  const count = STEPS.filter((step) => done[step]).length;
  return (
    <section class="panel start-steps" aria-labelledby="start-steps">
      <div class="row spread">
        <h2 id="start-steps">{texts.firstSteps}</h2>
        <span class="row">
          <span class="small quiet">{texts.progress(count, STEPS.length)}</span>
          <Button kind="quiet" onClick={onHide}>
            {texts.hide}
          </Button>
        </span>
      </div>
      <Progress label={texts.firstSteps} done={count} all={STEPS.length} />
      <ol class="start-list">
        {STEPS.map((step, index) => (
          <li key={step} class={`start-step ${done[step] ? "start-done" : ""}`}>
            <button type="button" class="start-title" aria-expanded={step === open} onClick={() => setOpened(step)}>
              <span class="start-mark" aria-hidden="true">
                {done[step] ? "✓" : index + 1}
              </span>
              {texts.steps[step].title}
              {done[step] && <span class="small quiet">{texts.done}</span>}
            </button>
            {step === open && (
              <StepDetails
                step={step}
                facts={facts}
                onDone={() => {
                  setOpened(null);
                  onChange();
                }}
              />
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

function StepDetails({ step, facts, onDone }: { step: StepName; facts: Facts; onDone: () => void }) {
  const words = texts.steps[step];
  const address = useAddress();
  const commands = commandsOf(step, facts, location.origin);
  const isDoable = step === "person" || step === "workflow" || step === "run";
  const isDone = listDone(facts)[step];
  return (
    <div class="stack start-details">
      <p class="quiet">{words.text}</p>
      <div class="row">
        {isDoable && !isDone && <DoIt step={step} facts={facts} onDone={onDone} />}
        <ButtonLink href={address(words.path)}>{words.action}</ButtonLink>
        {step === "run" && <DemoLink />}
      </div>
      {Object.keys(commands).length > 0 && (
        <details open={step === "key"}>
          <summary class="small">{texts.byHand}</summary>
          <Commands commands={commands} />
        </details>
      )}
    </div>
  );
}

/** The same request as the command, with a click. */
function DoIt({ step, facts, onDone }: { step: DoableStep; facts: Facts; onDone: () => void }) {
  const isAllowed = useCan(SCOPES[step]);
  const doing = useAction(async () => {
    await perform(step, facts);
    notify(texts.did[step]);
    onDone();
  });
  if (!isAllowed) {
    return null;
  }
  return (
    <>
      {doing.error !== null && <Problem error={doing.error} />}
      <Button kind="primary" busy={doing.isBusy} onClick={() => doing.run()}>
        {texts.doIt[step]}
      </Button>
    </>
  );
}
