import { useRef, useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Field } from "../../../ui/field.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Progress } from "../../../ui/progress.tsx";
import { texts } from "../../texts/suppressions.ts";
import {
  type ImportFile,
  type ImportRow,
  type LineProblem,
  listBatches,
  readImport,
  refusedLines,
} from "./import-model.ts";
import { ImportPreview, LineProblems } from "./import-preview.tsx";

type ImportState = { done: number; added: number; existing: number; problems: readonly LineProblem[]; isOver: boolean };

const START: ImportState = { done: 0, added: 0, existing: 0, problems: [], isOver: false };

/** Imports addresses of a file: first what is in it, then batch after batch. */
export function ImportDialog({ onImported, onClose }: { onImported: () => void; onClose: () => void }) {
  const [file, setFile] = useState<ImportFile | null>(null);
  const [progress, setProgress] = useState<ImportState | null>(null);
  const isStopped = useRef(false);

  const importing = useAction(async (rows: readonly ImportRow[]) => {
    let now = START;
    isStopped.current = false;
    setProgress(now);
    try {
      for (const batch of listBatches(rows)) {
        if (isStopped.current) {
          break;
        }
        const result = await sendBatch(batch);
        now = {
          ...now,
          done: now.done + batch.length,
          added: now.added + result.added,
          existing: now.existing + result.existing,
          problems: [...now.problems, ...result.problems],
        };
        setProgress(now);
      }
    } finally {
      setProgress({ ...now, isOver: true });
      onImported();
    }
  });

  async function choose(chosen: File | undefined) {
    importing.clear();
    setProgress(null);
    setFile(chosen ? readImport(await chosen.text()) : null);
  }

  function close() {
    isStopped.current = true;
    onClose();
  }

  const isReady = file !== null && file.problem === undefined && file.rows.length > 0 && progress === null;
  return (
    <Dialog title={texts.importTitle} onClose={close}>
      <p class="quiet">{texts.importHint}</p>
      {progress === null && (
        <Field label={texts.file} problem={file?.problem}>
          {(attributes) => (
            <input
              {...attributes}
              class="input"
              type="file"
              accept=".csv,.tsv,.txt,text/csv"
              onChange={(event) => void choose(event.currentTarget.files?.[0])}
            />
          )}
        </Field>
      )}
      {file && file.problem === undefined && progress === null && <ImportPreview file={file} />}
      {progress && <ImportProgress progress={progress} all={file?.rows.length ?? 0} />}
      {importing.error !== null && <Problem error={importing.error} />}
      <div class="row">
        {isReady && (
          <Button kind="primary" onClick={() => importing.run(file.rows)}>
            {texts.startImport(file.rows.length)}
          </Button>
        )}
        {progress && !progress.isOver && (
          <Button
            onClick={() => {
              isStopped.current = true;
            }}
          >
            {texts.stop}
          </Button>
        )}
        {progress?.isOver && <Button onClick={close}>{texts.close}</Button>}
      </div>
    </Dialog>
  );
}

function ImportProgress({ progress, all }: { progress: ImportState; all: number }) {
  return (
    <div class="stack">
      <Progress label={texts.importTitle} done={progress.done} all={all} />
      <p role="status">
        {texts.progress(progress.done, all)}. {texts.importDone(progress.added, progress.existing)}
      </p>
      <LineProblems problems={progress.problems} />
    </div>
  );
}

/** Send a batch; the server takes all of it or nothing, so lines that it refuses are left out of a second try. */
async function sendBatch(batch: readonly ImportRow[]) {
  try {
    return { ...(await send(batch)), problems: [] };
  } catch (error) {
    const problems = refusedLines(error, batch);
    if (problems.length === 0) {
      throw error;
    }
    const refused = new Set(problems.map((one) => one.line));
    const rest = batch.filter((one) => !refused.has(one.line));
    return { ...(rest.length > 0 ? await send(rest) : { added: 0, existing: 0 }), problems };
  }
}

async function send(rows: readonly ImportRow[]) {
  const suppressions = rows.map(({ line: _line, ...row }) => row);
  return dataOf(await api.POST("/v1/suppressions/bulk", { body: { suppressions } }));
}
