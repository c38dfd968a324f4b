import { useEffect } from "preact/hooks";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Progress } from "../../../ui/progress.tsx";
import { Status, type Tone } from "../../../ui/status.tsx";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/subscriber-import.ts";
import type { Line, SourceFile } from "./model.ts";
import { ProblemLines } from "./problem-lines.tsx";
import { type ImportState, useImport } from "./run.ts";

const TONES: Record<ImportState["status"], Tone> = {
  running: "wait",
  paused: "plain",
  failed: "bad",
  canceled: "warn",
  done: "good",
};

type SendingProps = { file: SourceFile; lines: readonly Line[]; onAnother: () => void };

/** How far the import is, with what the server refused. */
export function Sending({ file, lines, onAnother }: SendingProps) {
  const address = useAddress();
  const { set, ...state } = useImport(lines);
  const isOpen = state.status === "running" || state.status === "paused" || state.status === "failed";
  useLeaveWarning(isOpen);
  return (
    <>
      <div class="panel stack people-narrow">
        <div class="row spread" role="status">
          <Status tone={TONES[state.status]}>{texts.states[state.status]}</Status>
          <span>{texts.counts(state.created, state.updated)}</span>
        </div>
        <Progress label={texts.progress} done={state.done} all={lines.length} />
        <p class="small quiet">{texts.progressText(state.done, lines.length)}</p>
        {state.status === "canceled" && <p>{texts.canceledHint(lines.length - state.done)}</p>}
        {state.error !== null && <Problem error={state.error} />}
        <div class="row">
          {state.status === "running" && <Button onClick={() => set("paused")}>{texts.pause}</Button>}
          {(state.status === "paused" || state.status === "failed") && (
            <Button kind="primary" onClick={() => set("running")}>
              {texts.goOn}
            </Button>
          )}
          {isOpen && (
            <Button kind="quiet" onClick={() => set("canceled")}>
              {texts.cancel}
            </Button>
          )}
          {!isOpen && (
            <>
              <ButtonLink kind="primary" href={address("/subscribers")}>
                {texts.toSubscribers}
              </ButtonLink>
              <Button onClick={onAnother}>{texts.another}</Button>
            </>
          )}
        </div>
      </div>
      {state.refused.length > 0 && (
        <ProblemLines
          title={texts.refused(state.refused.length)}
          hint={texts.refusedHint}
          action={texts.downloadRefused}
          problems={state.refused}
          file={file}
        />
      )}
    </>
  );
}

/** Closing the window in the middle of an import asks first. */
function useLeaveWarning(isOpen: boolean): void {
  useEffect(() => {
    if (!isOpen) {
      return;
    }
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [isOpen]);
}
