import { useMemo, useState } from "preact/hooks";
import { Button } from "../../../ui/button.tsx";
import { Status } from "../../../ui/status.tsx";
import { texts } from "../../texts/subscriber-import.ts";
import { ColumnTable } from "./columns.tsx";
import type { SourceFile } from "./model.ts";
import { checkRows, guessMapping, type Line, mappingProblem } from "./model.ts";
import { Preview } from "./preview.tsx";
import { ProblemLines } from "./problem-lines.tsx";

type MappedProps = { file: SourceFile; onStart: (lines: readonly Line[]) => void; onAnother: () => void };

/** What the columns are, the first lines as they will be sent, and what is wrong. */
export function Mapped({ file, onStart, onAnother }: MappedProps) {
  const { columns, rows } = file.csv;
  const [mapping, setMapping] = useState(() => guessMapping(columns));
  const wrong = mappingProblem(mapping);
  const checked = useMemo(() => (wrong === null ? checkRows(rows, mapping) : null), [rows, mapping, wrong]);
  return (
    <>
      <div class="row spread">
        <p>
          <strong>
            <bdi>{texts.file(file.name, rows.length)}</bdi>
          </strong>
        </p>
        <Button onClick={onAnother}>{texts.another}</Button>
      </div>
      <section class="stack" aria-labelledby="import-columns">
        <h2 id="import-columns">{texts.columns}</h2>
        <p class="quiet">{texts.columnsHint}</p>
        <ColumnTable csv={file.csv} mapping={mapping} onMapping={setMapping} />
      </section>
      {wrong !== null && (
        <div class="problem" role="alert">
          <p>{wrong}</p>
        </div>
      )}
      {checked !== null && (
        <>
          <Preview lines={checked.lines} />
          {checked.problems.length > 0 ? (
            <ProblemLines
              title={texts.problems(checked.problems.length)}
              hint={texts.problemsHint}
              action={texts.downloadProblems}
              problems={checked.problems}
              file={file}
            />
          ) : (
            <p>
              <Status tone="good">{texts.noProblems}</Status>
            </p>
          )}
          <div class="row">
            <Button kind="primary" disabled={checked.lines.length === 0} onClick={() => onStart(checked.lines)}>
              {checked.lines.length === 0 ? texts.nothingToSend : texts.start(checked.lines.length)}
            </Button>
          </div>
        </>
      )}
    </>
  );
}
