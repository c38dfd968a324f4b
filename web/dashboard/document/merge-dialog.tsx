import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { texts } from "../texts/document.ts";
import { type Choices, type Difference, plainChoices, type Side } from "./merge.ts";
import { MergeChoice } from "./merge-choice.tsx";

type MergeDialogProps = {
  /** What is edited, in one word. */
  kind: string;
  /** Who saved it, and when. */
  savedBy: ComponentChildren;
  differences: readonly Difference[];
  titleOf: (difference: Difference) => string;
  textOf: (difference: Difference, value: unknown) => string;
  isBusy: boolean;
  onSave: (choices: Choices) => void;
  onClose: () => void;
};

/** Somebody else has saved: what each of both changed, side by side, and what is to be kept. */
export function MergeDialog(props: MergeDialogProps) {
  const { kind, savedBy, differences, titleOf, textOf, isBusy, onSave, onClose } = props;
  const [choices, setChoices] = useState<Choices>(() => plainChoices(differences));
  const left = differences.filter((one) => choices[one.id] === undefined).length;
  const chooseAll = (side: Side) => setChoices(Object.fromEntries(differences.map((one) => [one.id, side])));
  return (
    <Dialog title={texts.mergeTitle(kind)} onClose={onClose}>
      {savedBy}
      <p>{differences.length === 0 ? texts.nothingLeft : texts.mergeHint}</p>
      <div class="row">
        <Button onClick={() => chooseAll("mine")}>{texts.takeMine}</Button>
        <Button onClick={() => chooseAll("theirs")}>{texts.takeTheirs}</Button>
      </div>
      <div class="document-merge">
        {differences.map((one) => (
          <MergeChoice
            key={one.id}
            difference={one}
            title={one.part === undefined ? titleOf(one) : `${titleOf(one)}: ${one.part}`}
            show={(value) => textOf(one, value)}
            choice={choices[one.id]}
            onChoice={(side) => setChoices({ ...choices, [one.id]: side })}
          />
        ))}
      </div>
      <div class="row">
        <Button kind="primary" disabled={left > 0} busy={isBusy} onClick={() => onSave(choices)}>
          {texts.saveMerged(kind)}
        </Button>
        <span class="small quiet" role="status">
          {left > 0 && texts.toChoose(left)}
        </span>
      </div>
    </Dialog>
  );
}
