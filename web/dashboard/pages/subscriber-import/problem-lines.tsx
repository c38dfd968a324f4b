import { useId } from "preact/hooks";
import { Button } from "../../../ui/button.tsx";
import { writeCsv } from "../../../ui/csv.ts";
import { download } from "../../../ui/download.ts";
import { Table } from "../../../ui/table.tsx";
import { texts } from "../../texts/subscriber-import.ts";
import type { LineProblem, SourceFile } from "./model.ts";

const SHOWN = 100;

type ProblemLinesProps = {
  title: string;
  hint: string;
  /** The words of the button that saves the lines. */
  action: string;
  problems: readonly LineProblem[];
  file: SourceFile;
};

/** Lines of the file with what is wrong; all of them can be saved with their problems, to be mended and sent again. */
export function ProblemLines({ title, hint, action, problems, file }: ProblemLinesProps) {
  const id = useId();
  function save() {
    const sentences = new Map(problems.map((one) => [one.line, one.sentence]));
    const rows = file.csv.rows
      .filter((row) => sentences.has(row.line))
      .map((row) => ({ ...row.values, [texts.problem]: sentences.get(row.line) ?? "" }));
    download("subscribers-with-problems.csv", writeCsv([...file.csv.columns, texts.problem], rows), "text/csv");
  }
  const columns = [
    { name: "line", title: texts.line, show: (one: LineProblem) => one.line },
    { name: "problem", title: texts.problem, show: (one: LineProblem) => <bdi>{one.sentence}</bdi> },
  ];
  return (
    <section class="stack" aria-labelledby={id}>
      <div class="row spread">
        <h2 id={id}>{title}</h2>
        <Button onClick={save}>{action}</Button>
      </div>
      <p class="quiet">{hint}</p>
      <Table label={title} columns={columns} rows={problems.slice(0, SHOWN)} rowKey={(one) => String(one.line)} />
      {problems.length > SHOWN && <p class="small quiet">{texts.moreProblems(problems.length - SHOWN)}</p>}
    </section>
  );
}
