import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { Time } from "../../../ui/time.tsx";
import type { Difference } from "../../document/merge.ts";
import { textOfValue } from "../../document/merge-choice.tsx";
import { MergeDialog } from "../../document/merge-dialog.tsx";
import { texts } from "../../texts/editor.ts";
import { isObject } from "../../values.ts";
import { applyChoices, findDifferences } from "./merge.ts";
import { draftOf, type Workflow } from "./model.ts";
import type { Editor } from "./use-editor.ts";

/** Somebody else has saved the workflow. */
export function WorkflowMerge({ editor, theirs }: { editor: Editor; theirs: Workflow }) {
  const their = draftOf(theirs);
  const { base, draft } = editor;
  const nameOf = (key: string) => [...draft.steps, ...their.steps].find((step) => step.key === key)?.name ?? key;
  const variants = [...draft.steps, ...their.steps, ...base.steps].flatMap((step) => step.variants);
  const variantNameOf = (key: string) => variants.find((variant) => variant.key === key)?.name ?? key;
  return (
    <MergeDialog
      kind={texts.kind}
      savedBy={<SavedBy workflow={theirs} />}
      differences={findDifferences(base, draft, their)}
      titleOf={(one) => titleOf(one, nameOf, variantNameOf)}
      textOf={(one, value) => textOf(one, value, nameOf, variantNameOf)}
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

type NameOf = (key: string) => string;

function titleOf({ node, field }: Difference, nameOf: NameOf, variantNameOf: NameOf): string {
  if (node === undefined) {
    return field === "order" ? texts.order : `${texts.workflow}: ${texts.settingNames[field] ?? field}`;
  }
  const [, key = "", inner = texts.wholeVariant] = /^variants\.([^.]+)(?:\.(.*))?$/.exec(field) ?? [];
  const names = { step: texts.wholeStep, variants: texts.variantOrder } as Record<string, string>;
  const own = key === "" ? (names[field] ?? field) : `${variantNameOf(key)}: ${inner}`;
  return `${nameOf(node)}: ${own.replace("controlValues.", "")}`;
}

function textOf({ field }: Difference, value: unknown, nameOf: NameOf, variantNameOf: NameOf): string {
  if ((field === "order" || field === "variants") && Array.isArray(value)) {
    return value.map((key) => (field === "order" ? nameOf : variantNameOf)(String(key))).join(" → ");
  }
  if (field === "step" || /^variants\.[^.]+$/.test(field)) {
    return isObject(value) ? textOfValue(value.controlValues) : texts.gone;
  }
  return textOfValue(value);
}
