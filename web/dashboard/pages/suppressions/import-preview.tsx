import { Table } from "../../../ui/table.tsx";
import { texts as runTexts } from "../../texts/runs.ts";
import { texts } from "../../texts/suppressions.ts";
import type { ImportFile, ImportRow, LineProblem } from "./import-model.ts";

const SHOWN_ROWS = 5;
const SHOWN_PROBLEMS = 20;

/** What a file has in it, before anything is sent. */
export function ImportPreview({ file }: { file: ImportFile }) {
  const columns = [
    { name: "line", title: texts.line, show: (one: ImportRow) => one.line },
    { name: "address", title: texts.address, show: (one: ImportRow) => <bdi>{one.address}</bdi> },
    { name: "channel", title: texts.channel, show: (one: ImportRow) => runTexts.channels[one.channel] },
    { name: "detail", title: texts.detail, show: (one: ImportRow) => <bdi>{one.detail}</bdi> },
  ];
  return (
    <>
      <p role="status">{texts.readyToImport(file.rows.length)}</p>
      {file.rows.length > 0 && (
        <Table
          label={texts.preview}
          columns={columns}
          rows={file.rows.slice(0, SHOWN_ROWS)}
          rowKey={(one) => String(one.line)}
        />
      )}
      <LineProblems problems={file.problems} />
    </>
  );
}

/** Lines that cannot be imported, and why. */
export function LineProblems({ problems }: { problems: readonly LineProblem[] }) {
  if (problems.length === 0) {
    return null;
  }
  return (
    <div class="suppressions-problems">
      <p>{texts.problems(problems.length)}</p>
      <ul>
        {problems.slice(0, SHOWN_PROBLEMS).map(({ line, problem }) => (
          <li key={line}>{texts.problemLine(line, problem)}</li>
        ))}
        {problems.length > SHOWN_PROBLEMS && <li>{texts.moreProblems(problems.length - SHOWN_PROBLEMS)}</li>}
      </ul>
    </div>
  );
}
