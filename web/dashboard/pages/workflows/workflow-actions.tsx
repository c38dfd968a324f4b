import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { TextField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { Menu } from "../../../ui/menu.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/workflows.ts";

type Target = { workflowId: string; name: string; isActive: boolean };

type WorkflowActionsProps = {
  workflow: Target;
  /** Its state has changed, or it is gone. */
  onChanged: () => void;
  onDeleted?: () => void;
  /** Whether its state may change now; not while something else about it is not saved. */
  canSetState?: boolean;
};

/** What can be done to a workflow as a whole. */
export function WorkflowActions(props: WorkflowActionsProps) {
  const { workflow, onChanged, onDeleted = onChanged, canSetState = true } = props;
  const [open, setOpen] = useState<"duplicate" | "archive" | "delete" | null>(null);
  const { route } = useLocation();
  const address = useAddress();
  const path = { workflowId: workflow.workflowId };
  const close = () => setOpen(null);

  async function setActive(active: boolean) {
    await api.PATCH("/v2/workflows/{workflowId}", { params: { path }, body: { active } });
    notify(active ? texts.activated(workflow.name) : texts.archived(workflow.name));
    onChanged();
  }
  async function remove() {
    await api.DELETE("/v2/workflows/{workflowId}", { params: { path } });
    notify(texts.deleted(workflow.name));
    onDeleted();
  }
  const activating = useAction(() => setActive(true));

  return (
    <>
      <Menu
        label={texts.actionsOf(workflow.name)}
        items={[
          { label: texts.duplicate, onSelect: () => setOpen("duplicate") },
          {
            label: texts.versions,
            onSelect: () => route(address(`/workflows/${encodeURIComponent(workflow.workflowId)}/versions`)),
          },
          workflow.isActive
            ? { label: texts.archive, onSelect: () => setOpen("archive"), disabled: !canSetState }
            : { label: texts.activate, onSelect: () => void activating.run(), disabled: !canSetState },
          { label: texts.delete, isDangerous: true, onSelect: () => setOpen("delete") },
        ]}
      >
        ⋯
      </Menu>
      {activating.error !== null && <Problem error={activating.error} />}
      {open === "duplicate" && <DuplicateWorkflow workflow={workflow} onClose={close} />}
      {open === "archive" && (
        <Confirm
          title={texts.archiveTitle(workflow.name)}
          action={texts.archive}
          onConfirm={() => setActive(false)}
          onClose={close}
        >
          <p>{texts.archiveHint}</p>
        </Confirm>
      )}
      {open === "delete" && (
        <Confirm
          title={texts.deleteTitle(workflow.name)}
          action={texts.delete}
          isDangerous
          typed={workflow.workflowId}
          onConfirm={remove}
          onClose={close}
        >
          <p>{texts.deleteHint}</p>
        </Confirm>
      )}
    </>
  );
}

function DuplicateWorkflow({ workflow, onClose }: { workflow: Target; onClose: () => void }) {
  const [name, setName] = useState(texts.copyOf(workflow.name));
  const [workflowId, setWorkflowId] = useState(`${workflow.workflowId}-copy`);
  const { route } = useLocation();
  const address = useAddress();
  const duplicating = useAction(async () => {
    const made = dataOf(
      await api.POST("/v2/workflows/{workflowId}/duplicate", {
        params: { path: { workflowId: workflow.workflowId } },
        body: { name, workflowId },
      }),
    );
    onClose();
    route(address(`/workflows/${encodeURIComponent(made.workflowId)}`));
  });
  return (
    <Dialog title={texts.duplicateTitle(workflow.name)} onClose={onClose}>
      <Form action={duplicating} submit={texts.duplicate} onCancel={onClose}>
        <p class="quiet">{texts.duplicateHint}</p>
        <TextField label={texts.name} value={name} onValue={setName} required problem={duplicating.fields.name} />
        <TextField
          label={texts.identifier}
          hint={texts.identifierHint}
          value={workflowId}
          onValue={setWorkflowId}
          required
          problem={duplicating.fields.workflowId}
        />
      </Form>
    </Dialog>
  );
}
