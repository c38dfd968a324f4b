import { useRef, useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { TextField } from "../../../ui/field.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Progress } from "../../../ui/progress.tsx";
import { texts } from "../../texts/dead-letters.ts";
import { type Selection, type Sweep, sweep } from "./model.ts";

export type SweepKind = "redrive" | "discard";

type SweepDialogProps = {
  kind: SweepKind;
  selection: Selection;
  count: number;
  /** Whether there are more than were counted. */
  isCapped: boolean;
  onChanged: () => void;
  onClose: () => void;
};

/** Asks, then redrives or discards many letters piece by piece, and shows how far it is. */
export function SweepDialog({ kind, selection, count, isCapped, onChanged, onClose }: SweepDialogProps) {
  const [progress, setProgress] = useState<Sweep | null>(null);
  const [typed, setTyped] = useState("");
  const isStopped = useRef(false);
  const running = useAction(async () => {
    isStopped.current = false;
    try {
      await sweep(
        { count, isCapped },
        (limit) => change(kind, { ...selection, limit }),
        setProgress,
        () => isStopped.current,
      );
    } finally {
      onChanged();
    }
  });
  function close() {
    isStopped.current = true;
    onClose();
  }
  // Everything at once cannot be brought back: a slip of the hand must not be enough.
  const isTypedNeeded = kind === "discard" && selection.all === true;
  return (
    <Dialog title={kind === "redrive" ? texts.redriveQuestion(count) : texts.discardQuestion(count)} onClose={close}>
      {progress === null ? (
        <>
          <p>{kind === "redrive" ? texts.redriveEffect : texts.discardEffect}</p>
          {isTypedNeeded && (
            <TextField label={texts.typed(texts.discardWord)} value={typed} onValue={setTyped} autoComplete="off" />
          )}
        </>
      ) : (
        <SweepProgress kind={kind} progress={progress} />
      )}
      {running.error !== null && <Problem error={running.error} onRetry={() => void running.run()} />}
      <div class="row">
        {progress === null && (
          <>
            <Button
              kind={kind === "redrive" ? "primary" : "danger"}
              disabled={isTypedNeeded && typed !== texts.discardWord}
              onClick={() => void running.run()}
            >
              {kind === "redrive" ? texts.redrive : texts.discard}
            </Button>
            <Button kind="quiet" onClick={close}>
              {texts.cancel}
            </Button>
          </>
        )}
        {running.isBusy && (
          <Button
            onClick={() => {
              isStopped.current = true;
            }}
          >
            {texts.stop}
          </Button>
        )}
        {progress !== null && !running.isBusy && <Button onClick={close}>{texts.close}</Button>}
      </div>
    </Dialog>
  );
}

function SweepProgress({ kind, progress }: { kind: SweepKind; progress: Sweep }) {
  const { done, remaining, isOver } = progress;
  const told = kind === "redrive" ? texts.redriven(done) : texts.discarded(done);
  return (
    <div class="stack">
      <Progress
        label={kind === "redrive" ? texts.redriving : texts.discarding}
        done={isOver && remaining === 0 ? done || 1 : done}
        all={done + remaining}
      />
      <p role="status">
        {isOver ? told : texts.progress(done, done + remaining)} {remaining > 0 && texts.remaining(remaining)}
      </p>
    </div>
  );
}

async function change(kind: SweepKind, body: Selection) {
  if (kind === "redrive") {
    const { redriven, hasMore, remaining } = dataOf(await api.POST("/v1/dead-letters/redrive", { body }));
    return { count: redriven, hasMore, remaining };
  }
  const { discarded, hasMore, remaining } = dataOf(await api.POST("/v1/dead-letters/discard", { body }));
  return { count: discarded, hasMore, remaining };
}
