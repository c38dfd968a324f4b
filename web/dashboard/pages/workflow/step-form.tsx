import { Button } from "../../../ui/button.tsx";
import { CheckField, TextField } from "../../../ui/field.tsx";
import { lazyComponent } from "../../../ui/lazy.tsx";
import { Conditions } from "../../conditions/lazy-conditions.tsx";
import { JsonField } from "../../schema-form/json-field.tsx";
import { useCan } from "../../session.ts";
import { NotLoaded } from "../../shell/lazy-page.tsx";
import { texts } from "../../texts/editor.ts";
import { texts as runTexts } from "../../texts/runs.ts";
import { texts as stepTexts } from "../../texts/steps.ts";
import { isObject, type JsonObject } from "../../values.ts";
import { changeStep, type DraftStep, type StepKind } from "./model.ts";
import { problemUnder } from "./problems.ts";
import { Section } from "./section.tsx";
import { ControlsForm, isMessage, type StepFormProps } from "./step-controls.tsx";
import { Variants } from "./variants.tsx";
import { describeDraft } from "./words.ts";

const BranchForm = lazyComponent<StepFormProps>(() => import("./branch-form.tsx"), NotLoaded);

const TITLES: Partial<Record<StepKind, string>> = {
  custom: texts.values,
  branch: texts.paths,
  exit: texts.ends,
  trigger: texts.triggers,
  http_request: texts.request,
};

/** Everything about one step. */
export function StepForm(props: StepFormProps) {
  const { step, schema, problems, remarks, variables, canWrite } = props;
  const set = (changes: Partial<DraftStep>) => props.change((before) => changeStep(before, step.key, changes));
  const contentTitle = TITLES[step.type] ?? (isMessage(step.type) ? texts.content : texts.timing);
  return (
    <div class="stack">
      <Section
        title={runTexts.stepTypes[step.type]}
        mark={stepTexts.marks[step.type]}
        action={
          <CheckField
            label={texts.stepActive}
            isSwitch
            checked={step.active}
            onChecked={(active) => set({ active })}
            disabled={!canWrite}
          />
        }
      >
        <p class="quiet">
          {isMessage(step.type) || step.type === "custom" ? stepTexts.about[step.type] : describeDraft(step)}
        </p>
        <div data-path="name">
          <TextField
            label={texts.stepName}
            value={step.name}
            onValue={(name) => set({ name })}
            disabled={!canWrite}
            problem={problems.name}
          />
        </div>
      </Section>
      <Section title={contentTitle}>
        {step.paths ? (
          <BranchForm {...props} />
        ) : (
          <ControlsForm
            type={step.type}
            schema={schema}
            values={step.controlValues}
            onValues={(controlValues) => set({ controlValues })}
            problems={problems}
            remarks={remarks}
            variables={variables}
            disabled={!canWrite}
          />
        )}
      </Section>
      <ConditionsSection {...props} set={set} />
      {(isMessage(step.type) || step.variants.length > 0) && (
        <Section title={texts.variants} isClosed={step.variants.length === 0}>
          <Variants {...props} onVariants={(variants) => set({ variants })} />
        </Section>
      )}
      {step.type === "email" && <RepliesSection {...props} set={set} />}
      {(step.type === "chat" || step.type === "tool") && <OverridesSection {...props} set={set} />}
      <Section title={texts.further} isClosed={!step.shouldStopOnFail && problems.stepId === undefined}>
        <div data-path="stepId">
          <TextField
            label={texts.stepId}
            hint={texts.stepIdHint(step.stepId)}
            value={step.stepId}
            onValue={(stepId) => set({ stepId })}
            disabled={!canWrite || step._id !== undefined}
            problem={problems.stepId}
          />
        </div>
        <CheckField
          label={texts.stopOnFail}
          hint={texts.stopOnFailHint}
          isSwitch
          checked={step.shouldStopOnFail}
          onChecked={(shouldStopOnFail) => set({ shouldStopOnFail })}
          disabled={!canWrite}
        />
      </Section>
    </div>
  );
}

type SectionProps = StepFormProps & { set: (changes: Partial<DraftStep>) => void };

/** Where replies to the mail are posted to. */
function RepliesSection({ step, problems, canWrite, set }: SectionProps) {
  const callback = step.replyCallback ?? { active: false, url: "" };
  const problem = problemUnder(problems, "replyCallback.url");
  // What is there may be switched off, and is not changed otherwise.
  const canSet = useCan("webhooks:write");
  return (
    <Section title={texts.replies} isClosed={!callback.active && problem === undefined}>
      <CheckField
        label={texts.replyActive}
        hint={texts.replyActiveHint}
        isSwitch
        checked={callback.active}
        onChecked={(active) => set({ replyCallback: { ...callback, active } })}
        disabled={!canWrite || !(canSet || callback.active)}
      />
      {canWrite && !canSet && <p class="small quiet">{texts.replyNeedsWebhooks}</p>}
      <div data-path="replyCallback.url">
        <TextField
          label={texts.replyUrl}
          hint={texts.replyUrlHint}
          value={callback.url}
          onValue={(url) => set({ replyCallback: { ...callback, url } })}
          disabled={!canWrite || !canSet}
          problem={problem}
        />
      </div>
    </Section>
  );
}

/** What is merged into the requests to each provider. */
function OverridesSection({ step, problems, canWrite, set }: SectionProps) {
  const problem = Object.entries(problems).find(([path]) => path.startsWith("providerOverrides"));
  return (
    <Section title={texts.overrides} isClosed={!step.providerOverrides && !problem}>
      <div data-path={problem?.[0] ?? "providerOverrides"}>
        <JsonField
          label={texts.overridesByProvider}
          hint={texts.overridesHint}
          value={step.providerOverrides ?? undefined}
          onValue={(value) =>
            set({ providerOverrides: isObject(value) ? (value as Record<string, JsonObject>) : null })
          }
          problem={problem?.[1]}
          disabled={!canWrite}
          isObjectWanted
        />
      </div>
    </Section>
  );
}

function ConditionsSection({ step, problems, variables, sample, canWrite, set }: SectionProps) {
  const { skip, ...others } = step.controlValues;
  const isEmpty = (skip === undefined || skip === null) && step.filters.length === 0;
  const hasProblem = Object.keys(problems).some((path) => /^(skip|filters)\b/.test(path));
  const shared = { variables, sample, disabled: !canWrite };
  return (
    <Section title={texts.conditions} isClosed={isEmpty && !hasProblem}>
      <div data-path="skip">
        <Conditions
          {...shared}
          kind="logic"
          label={texts.skip}
          value={skip}
          onValue={(value) => set({ controlValues: value ? { ...others, skip: value } : others })}
          problem={problemUnder(problems, "skip")}
        />
      </div>
      {step.filters.length > 0 || hasProblem ? (
        <div data-path="filters">
          <Conditions
            {...shared}
            kind="filters"
            label={texts.filters}
            value={step.filters}
            onValue={(value) => set({ filters: (value as JsonObject[] | null) ?? [] })}
            problem={problemUnder(problems, "filters")}
          />
        </div>
      ) : (
        canWrite && (
          <div>
            <Button kind="quiet" onClick={() => set({ filters: FIRST_FILTERS })}>
              + {texts.addFilters}
            </Button>
          </div>
        )
      )}
    </Section>
  );
}

const FIRST_FILTERS: JsonObject[] = [
  {
    isNegated: false,
    type: "GROUP",
    value: "AND",
    children: [{ on: "payload", field: "", operator: "EQUAL", value: "" }],
  },
];
