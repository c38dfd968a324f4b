import { useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Time } from "../../../ui/time.tsx";
import { texts } from "../../texts/editor.ts";
import { applyChoices, type Choices, type Difference, findDifferences, plainChoices, type Side } from "./merge.ts";
import { MergeChoice } from "./merge-choice.tsx";
import { type Draft, draftOf, type Workflow } from "./model.ts";
import type { Editor } from "./use-editor.ts";

/** Somebody else has saved: what each of both changed, side by side, and what is to be kept. */
export function MergeDialog({ editor, theirs }: { editor: Editor; theirs: Workflow }) {
  const their = draftOf(theirs);
  const { base, draft } = editor;
  const differences = findDifferences(base, draft, their);
  const [choices, setChoices] = useState<Choices>(() => plainChoices(differences));
  const left = differences.filter((one) => choices[one.id] === undefined).length;
  const chooseAll = (side: Side) => setChoices(Object.fromEntries(differences.map((one) => [one.id, side])));
  return (
    <Dialog title={texts.mergeTitle} onClose={editor.closeMerge}>
      <SavedBy workflow={theirs} />
      <p>{differences.length === 0 ? texts.nothingLeft : texts.mergeHint}</p>
      <div class="row">
        <Button onClick={() => chooseAll("mine")}>{texts.takeMine}</Button>
        <Button onClick={() => chooseAll("theirs")}>{texts.takeTheirs}</Button>
      </div>
      <div class="editor-merge">
        {differences.map((one) => (
          <MergeChoice
            key={one.id}
            difference={one}
            title={titleOf(one, draft, their)}
            nameOf={(key) => nameOf(key, draft, their)}
            choice={choices[one.id]}
            onChoice={(side) => setChoices({ ...choices, [one.id]: side })}
          />
        ))}
      </div>
      <div class="row">
        <Button
          kind="primary"
          disabled={left > 0}
          busy={editor.saving.isBusy}
          onClick={() => void editor.saveMerged(applyChoices(base, draft, their, choices))}
        >
          {texts.saveMerged}
        </Button>
        <span class="small quiet" role="status">
          {left > 0 && texts.toChoose(left)}
        </span>
      </div>
    </Dialog>
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

function nameOf(key: string, ...drafts: readonly Draft[]): string {
  return drafts.flatMap((draft) => draft.steps).find((step) => step.key === key)?.name ?? key;
}

function titleOf(one: Difference, ...drafts: readonly Draft[]): string {
  if (one.step === undefined) {
    return one.field === "order" ? texts.order : `${texts.workflow}: ${texts.settingNames[one.field] ?? one.field}`;
  }
  const field = one.field === "step" ? texts.wholeStep : one.field.replace("controlValues.", "");
  return `${nameOf(one.step, ...drafts)}: ${field}`;
}
