import { useState } from "preact/hooks";
import { describeLogic } from "../../conditions/words.ts";
import { texts } from "../../texts/editor.ts";
import { InsertMenu } from "./insert-menu.tsx";
import {
  type DraftPath,
  type DraftStep,
  MAX_ALL_STEPS,
  MAX_DEPTH,
  MAX_STEPS,
  OTHERWISE,
  type Within,
} from "./model.ts";
import { useEditorAddress } from "./parts.tsx";
import { isWeighted, shareOf } from "./paths.ts";
import { partPath } from "./places.ts";
import { focusField } from "./problem-list.tsx";
import type { FieldProblem } from "./problems.ts";
import { StepEntry, useDrop } from "./step-entry.tsx";
import { childrenOf, listAround, subtreeOf } from "./tree.ts";
import { nameOfPath, type StepTree } from "./use-tree.ts";

type StepLevelProps = { tree: StepTree; problems: readonly FieldProblem[]; within?: Within };

/** The steps of the workflow itself, or of a path, from the top down; each branch with its paths. */
export function StepLevel({ tree, problems, within }: StepLevelProps) {
  const address = useEditorAddress();
  const children = childrenOf(tree.steps, within);
  const path = within && nameOfPath(tree.steps, within);
  const limit = limitOf(tree, children.length, within);
  const insertAt = (index: number, isEnd: boolean) => (
    <InsertMenu
      label={insertLabel(index, isEnd, path)}
      onInsert={(kind) => tree.insert({ within, index }, kind)}
      copied={tree.copied}
      onPaste={() => tree.paste({ within, index })}
      isDeepest={listAround(tree.steps, within).length >= MAX_DEPTH}
      isQuiet={!isEnd}
    >
      {isEnd ? `+ ${texts.insert}` : "+"}
    </InsertMenu>
  );
  return (
    <>
      {children.length > 0 && (
        <ol class="editor-step-list">
          {children.map((step, index) => (
            <li key={step.key} class="editor-step">
              {tree.canWrite && !limit && insertAt(index, false)}
              <StepEntry
                step={step}
                tree={tree}
                href={address({ step: step.key, part: "form" })}
                problems={problems.filter((one) => one.step === step.key && one.isError).length}
              />
              {step.paths && <Paths branch={step} paths={step.paths} tree={tree} problems={problems} />}
            </li>
          ))}
        </ol>
      )}
      {children.length === 0 && !tree.canWrite && within && <p class="small quiet">{texts.pathEmpty}</p>}
      {tree.canWrite && (
        <LevelEnd tree={tree} within={within}>
          {limit ? <p class="small quiet">{limit}</p> : insertAt(children.length, true)}
        </LevelEnd>
      )}
    </>
  );
}

function insertLabel(index: number, isEnd: boolean, path: string | undefined): string {
  if (path === undefined) {
    return isEnd ? texts.insertEnd : texts.insertAt(index + 1);
  }
  return isEnd ? texts.insertEndOf(path) : texts.insertAtOf(index + 1, path);
}

/** Why no step can be added to a list. */
function limitOf(tree: StepTree, count: number, within: Within | undefined): string | null {
  if (tree.steps.length >= MAX_ALL_STEPS) {
    return within ? null : texts.fullAll(MAX_ALL_STEPS);
  }
  return count < MAX_STEPS ? null : within ? texts.pathFull(MAX_STEPS) : texts.full(MAX_STEPS);
}

type LevelEndProps = { tree: StepTree; within: Within | undefined; children: preact.ComponentChildren };

/** The end of a list, where steps are added, and dropped as the last. */
function LevelEnd({ tree, within, children }: LevelEndProps) {
  const drop = useDrop(() => tree.drop(within, undefined));
  return (
    <div class={`editor-end ${drop.isOver ? "editor-target" : ""}`} role="presentation" {...drop.events}>
      {children}
    </div>
  );
}

type PathsProps = { branch: DraftStep; paths: readonly DraftPath[]; tree: StepTree; problems: readonly FieldProblem[] };

function Paths({ branch, paths, tree, problems }: PathsProps) {
  return (
    <ul class="editor-paths" aria-label={texts.paths}>
      {paths.map((path) => (
        <PathPart key={path.key} branch={branch} path={path} tree={tree} problems={problems} />
      ))}
    </ul>
  );
}

type PathPartProps = Omit<PathsProps, "paths"> & { path: DraftPath };

/** A path with its steps, which can be folded away. */
function PathPart({ branch, path, tree, problems }: PathPartProps) {
  const address = useEditorAddress();
  const [isFolded, setFolded] = useState(false);
  const within = { branch: branch.key, path: path.key };
  const name = path.key === OTHERWISE ? texts.otherwise : path.name;
  const inside = childrenOf(tree.steps, within).flatMap((step) => subtreeOf(tree.steps, step.key));
  const wrong = problems.filter((one) => one.isError && inside.some((step) => step.key === one.step)).length;
  return (
    <li class="editor-path">
      <div class="editor-path-head">
        <button
          type="button"
          class="editor-fold"
          aria-expanded={!isFolded}
          aria-label={isFolded ? texts.unfold(name) : texts.fold(name)}
          onClick={() => setFolded(!isFolded)}
        >
          {isFolded ? "▸" : "▾"}
        </button>
        <a
          href={address({ step: branch.key, part: "form" })}
          onClick={() => setTimeout(() => focusField(partPath("paths", path.key)))}
        >
          <strong>
            <bdi>{name}</bdi>
          </strong>{" "}
          <span class="small quiet">{describePath(branch, path)}</span>
        </a>
      </div>
      {isFolded ? (
        <p class="small quiet">
          {texts.stepsIn(inside.length)}
          {wrong > 0 && `, ${texts.problemCount(wrong)}`}
        </p>
      ) : (
        <StepLevel tree={tree} problems={problems} within={within} />
      )}
    </li>
  );
}

/** What makes a run take the path. */
function describePath(branch: DraftStep, path: DraftPath): string {
  if (path.key === OTHERWISE) {
    return texts.otherwiseHint;
  }
  if (isWeighted(branch)) {
    return path.weight === undefined ? texts.shareUnknown : texts.share(path.weight, shareOf(branch, path));
  }
  const condition = describeLogic(path.condition);
  return condition === undefined ? texts.pathWithout : texts.pathIf(condition);
}
