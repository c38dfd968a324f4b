import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { Time } from "../../../ui/time.tsx";
import type { Difference } from "../../document/merge.ts";
import { textOfValue } from "../../document/merge-choice.tsx";
import { MergeDialog } from "../../document/merge-dialog.tsx";
import { texts } from "../../texts/editor.ts";
import { isObject } from "../../values.ts";
import { applyChoices, findDifferences } from "./merge.ts";
import type { DraftStep, Workflow } from "./model.ts";
import { draftOf } from "./saved.ts";
import type { Editor } from "./use-editor.ts";

export type WorkflowMergeProps = { editor: Editor; theirs: Workflow };

/** Somebody else has saved the workflow. */
export default function WorkflowMerge({ editor, theirs }: WorkflowMergeProps) {
  const their = draftOf(theirs);
  const { base, draft } = editor;
  const names = namesOf([...draft.steps, ...their.steps, ...base.steps]);
  return (
    <MergeDialog
      kind={texts.kind}
      savedBy={<SavedBy workflow={theirs} />}
      differences={findDifferences(base, draft, their)}
      titleOf={(one) => titleOf(one, names)}
      textOf={(one, value) => textOf(one, value, names)}
      isBusy={editor.saving.isBusy}
      onSave={(choices) => void editor.saveMerged(applyChoices(base, draft, their, choices))}
      onClose={editor.closeMerge}
    />
  );
}

/** Who saved it, as far as the versions know. */
function SavedBy({ workflow }: { workflow: Workflow }) {
  const { workflowId } = workflow;
  const latest = useLoaded(`version/${workflow.versionId}`, async (signal) => {
    const params = { path: { workflowId }, query: { limit: 1 } };
    return dataOf(await api.GET("/v1/workflows/{workflowId}/versions", { params, signal })).data[0];
  });
  // Names and tags belong to no version, so that the newest one may be older than the save.
  const author = latest.data?.createdAt === workflow.updatedAt ? latest.data.author?.name : undefined;
  return (
    <p class="small quiet">
      {author && <bdi>{texts.mergeBy(author)}</bdi>} <Time at={workflow.updatedAt} />
    </p>
  );
}

/** What steps, their variants and their paths are called. */
type Names = { step: (key: string) => string; part: (key: string, node?: string) => string };

function namesOf(steps: readonly DraftStep[]): Names {
  const partsOf = ({ variants, paths = [] }: DraftStep) => [...variants, ...paths];
  const ofStep = (node: string | undefined) => steps.filter((step) => node === undefined || step.key === node);
  return {
    step: (key) => steps.find((step) => step.key === key)?.name ?? key,
    part: (key, node) =>
      ofStep(node)
        .flatMap(partsOf)
        .find((part) => part.key === key)?.name ?? key,
  };
}

const PART = /^(variants|paths)\.([^.]+)(?:\.(.*))?$/;

function titleOf({ node, field }: Difference, names: Names): string {
  if (node === undefined) {
    return field === "order" ? texts.order : `${texts.workflow}: ${texts.settingNames[field] ?? field}`;
  }
  const [, kind, key = "", inner = kind === "paths" ? texts.wholePath : texts.wholeVariant] = PART.exec(field) ?? [];
  const own = key === "" ? (texts.fieldNames[field] ?? field) : `${names.part(key, node)}: ${inner}`;
  return `${names.step(node)}: ${own.replace("controlValues.", "")}`;
}

function textOf({ node, field }: Difference, value: unknown, names: Names): string {
  if (["order", "variants", "paths"].includes(field) && Array.isArray(value)) {
    return value.map((key) => (field === "order" ? names.step(key) : names.part(key, node))).join(" → ");
  }
  if (field === "within") {
    return isObject(value)
      ? texts.inPath(names.step(String(value.branch)), names.part(String(value.path), String(value.branch)))
      : texts.inNoPath;
  }
  if (field === "step" && Array.isArray(value)) {
    return value.map((step) => step.name).join(" → ");
  }
  if (field === "step" || /^variants\.[^.]+$/.test(field)) {
    return isObject(value) ? textOfValue(value.controlValues) : texts.gone;
  }
  if (/^paths\.[^.]+$/.test(field)) {
    return isObject(value) ? textOfPath(value) : texts.gone;
  }
  return textOfValue(value);
}

/** What decides about a path, and what is in it. */
function textOfPath({ path, steps }: Record<string, unknown>): string {
  const { condition, weight } = isObject(path) ? path : {};
  const names = (steps as DraftStep[]).map((step) => step.name).join(" → ");
  return [condition ?? weight, names].filter(Boolean).map(textOfValue).join("\n");
}
