import { Button } from "../../../ui/button.tsx";
import { SelectField, TextField } from "../../../ui/field.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Conditions } from "../../conditions/lazy-conditions.tsx";
import { texts } from "../../texts/editor.ts";
import { isObject } from "../../values.ts";
import { type DraftPath, MAX_PATHS, OTHERWISE } from "./model.ts";
import {
  addOtherwise,
  addPath,
  canAddPath,
  changePath,
  decideBy,
  isWeighted,
  movePath,
  namedPaths,
  removePath,
  shareOf,
} from "./paths.ts";
import { partPath } from "./places.ts";
import { problemUnder } from "./problems.ts";
import type { StepFormProps } from "./step-controls.tsx";

const KINDS = ["conditions", "weights"] as const;
type Kind = (typeof KINDS)[number];

/** The paths of a branch: what they are called, and what decides between them. */
export default function BranchForm(props: StepFormProps) {
  const { step: branch, problems, canWrite, change } = props;
  const paths = namedPaths(branch);
  const isByWeights = isWeighted(branch);
  const kind: Kind = isByWeights ? "weights" : "conditions";
  const hasOtherwise = paths.length < (branch.paths ?? []).length;
  return (
    <div class="stack" data-path="paths">
      <SelectField
        label={texts.decidesBy}
        value={kind}
        options={KINDS.map((one) => ({ value: one, label: texts.decides[one] }))}
        onValue={(chosen) => change((draft) => decideBy(draft, branch, chosen as Kind, texts.restPath))}
        hint={texts.decidesHint[kind]}
        disabled={!canWrite || paths.length === 0}
      />
      {problems.paths && <p class="field-problem">{problems.paths}</p>}
      {paths.map((path, index) => (
        <PathFields key={path.key} {...props} path={path} isFirst={index === 0} isLast={index === paths.length - 1} />
      ))}
      {hasOtherwise && <OtherwiseFields {...props} />}
      {!hasOtherwise && !isByWeights && <p class="small quiet">{texts.noOtherwise}</p>}
      {canWrite && (
        <div class="row">
          {canAddPath(branch) ? (
            <Button kind="quiet" onClick={() => change((draft) => addPath(draft, branch, texts.newPath))}>
              + {texts.addPath}
            </Button>
          ) : (
            <span class="small quiet">{texts.maxPaths(MAX_PATHS)}</span>
          )}
          {!hasOtherwise && !isByWeights && (
            <Button kind="quiet" onClick={() => change((draft) => addOtherwise(draft, branch))}>
              + {texts.addOtherwise}
            </Button>
          )}
        </div>
      )}
    </div>
  );
}

type PathFieldsProps = StepFormProps & { path: DraftPath; isFirst: boolean; isLast: boolean };

function PathFields(props: PathFieldsProps) {
  const { step: branch, path, problems, canWrite, variables, sample, change } = props;
  const place = partPath("paths", path.key);
  const set = (changes: { [Name in keyof DraftPath]?: DraftPath[Name] | undefined }) =>
    change((draft) => changePath(draft, branch, path.key, changes as Partial<DraftPath>));
  return (
    <fieldset class="schema-group" data-path={place}>
      <legend>
        <bdi>{path.name || texts.pathName}</bdi>
      </legend>
      <div data-path={`${place}.name`}>
        <TextField
          label={texts.pathName}
          value={path.name}
          onValue={(name) => set({ name })}
          disabled={!canWrite}
          problem={problems[`${place}.name`]}
        />
      </div>
      {isWeighted(branch) ? (
        <div data-path={`${place}.weight`}>
          <TextField
            label={texts.weight}
            hint={texts.weightShare(shareOf(branch, path))}
            type="number"
            min={1}
            step={1}
            value={path.weight === undefined ? "" : String(path.weight)}
            onValue={(text) => set({ weight: text === "" ? undefined : Number(text) })}
            disabled={!canWrite}
            problem={problems[`${place}.weight`]}
          />
        </div>
      ) : (
        <div data-path={`${place}.condition`}>
          <Conditions
            kind="logic"
            label={texts.condition}
            value={path.condition}
            onValue={(value) => set({ condition: isObject(value) ? value : undefined })}
            variables={variables}
            sample={sample}
            problem={problemUnder(problems, `${place}.condition`)}
            disabled={!canWrite}
          />
        </div>
      )}
      <PathActions {...props} />
    </fieldset>
  );
}

function PathActions({ step: branch, path, isFirst, isLast, canWrite, change }: PathFieldsProps) {
  if (!canWrite) {
    return null;
  }
  return (
    <div class="row">
      <Button
        kind="quiet"
        disabled={isFirst}
        title={texts.pathUp(path.name)}
        aria-label={texts.pathUp(path.name)}
        onClick={() => change((draft) => movePath(draft, branch, path.key, -1))}
      >
        ↑
      </Button>
      <Button
        kind="quiet"
        disabled={isLast}
        title={texts.pathDown(path.name)}
        aria-label={texts.pathDown(path.name)}
        onClick={() => change((draft) => movePath(draft, branch, path.key, 1))}
      >
        ↓
      </Button>
      <RemovePath branch={branch} path={path} name={path.name} change={change} />
    </div>
  );
}

function OtherwiseFields({ step: branch, canWrite, change }: StepFormProps) {
  return (
    <fieldset class="schema-group" data-path={partPath("paths", OTHERWISE)}>
      <legend>{texts.otherwise}</legend>
      <p class="small quiet">{texts.otherwiseTaken}</p>
      {canWrite && (
        <div>
          <RemovePath
            branch={branch}
            path={{ key: OTHERWISE, name: OTHERWISE }}
            name={texts.otherwise}
            change={change}
          />
        </div>
      )}
    </fieldset>
  );
}

type RemovePathProps = Pick<StepFormProps, "change"> & { branch: StepFormProps["step"]; path: DraftPath; name: string };

/** Takes the path away with its steps, which undo brings back. */
function RemovePath({ branch, path, name, change }: RemovePathProps) {
  function remove() {
    change((draft) => {
      const left = removePath(draft, branch, path.key);
      notify(texts.removedPath(name, draft.steps.length - left.steps.length));
      return left;
    });
  }
  return (
    <Button kind="quiet" onClick={remove}>
      {texts.removePath(name)}
    </Button>
  );
}
