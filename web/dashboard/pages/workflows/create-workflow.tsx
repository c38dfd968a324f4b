import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { SelectField, TextField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { findDefaultLayout } from "../../email/layouts.ts";
import { texts as runTexts } from "../../texts/runs.ts";
import { texts as stepTexts } from "../../texts/steps.ts";
import { texts } from "../../texts/workflows.ts";
import { kebab } from "../../values.ts";
import { newStep, STEP_KINDS, type StepKind } from "../workflow/model.ts";
import { stepBodiesOf } from "../workflow/saved.ts";

type CreateWorkflowProps = { onClose: () => void; onCreated: (workflowId: string, step: string | undefined) => void };

/** Makes a workflow that can be triggered at once: its first step says something already. */
export function CreateWorkflow({ onClose, onCreated }: CreateWorkflowProps) {
  const [name, setName] = useState("");
  const [typedId, setTypedId] = useState<string | null>(null);
  const [first, setFirst] = useState<StepKind | "">("in_app");
  const workflowId = typedId ?? kebab(name);
  const creating = useAction(async () => {
    const layout = first === "email" ? await findDefaultLayout() : undefined;
    const steps = first === "" ? [] : firstSteps(first, layout);
    const body = { name, workflowId, active: true, steps };
    const made = dataOf(await api.POST("/v2/workflows", { body }));
    onCreated(made.workflowId, made.steps[0]?.stepId);
  });
  return (
    <Dialog title={texts.create} onClose={onClose}>
      <Form action={creating} submit={texts.createAction} onCancel={onClose}>
        <TextField
          label={texts.name}
          hint={texts.nameHint}
          value={name}
          onValue={setName}
          required
          autoComplete="off"
          problem={creating.fields.name}
        />
        <TextField
          label={texts.identifier}
          hint={texts.identifierHint}
          value={workflowId}
          onValue={(text) => setTypedId(text === "" ? null : text)}
          required
          autoComplete="off"
          problem={creating.fields.workflowId}
        />
        <SelectField
          label={texts.firstStep}
          hint={first === "" ? texts.firstStepHint : stepTexts.about[first]}
          value={first}
          options={[
            ...STEP_KINDS.map((kind) => ({ value: kind, label: runTexts.stepTypes[kind] })),
            { value: "", label: texts.noFirstStep },
          ]}
          onValue={(chosen) => setFirst(chosen as StepKind | "")}
        />
      </Form>
    </Dialog>
  );
}

function firstSteps(kind: StepKind, layout: string | undefined) {
  const step = newStep(kind, runTexts.stepTypes[kind], [], layout);
  return stepBodiesOf([{ ...step, controlValues: { ...step.controlValues, ...texts.starters[kind] } }]);
}
