/** Comma-separated values, as spreadsheets write them. */

export type CsvRow = {
  line: number;
  values: Record<string, string>;
  /** How many cells there are beyond the last column, if there are any. */
  extraCells?: number;
};

export type Csv = {
  columns: string[];
  rows: CsvRow[];
  /** The line of a quotation mark that is never closed: everything behind it is one cell. */
  unclosedLine?: number;
};

/** Read a text whose first line names the columns; cells may be quoted, and semicolons or tabs may separate them. */
export function parseCsv(text: string): Csv {
  const { lines, unclosedLine } = readLines(text.replace(/^\uFEFF/, ""));
  const [head, ...rest] = lines;
  const columns = (head?.cells ?? []).map((cell) => cell.trim());
  const rows = rest
    .filter((one) => one.cells.some((cell) => cell.trim() !== ""))
    .map(({ line, cells }) => ({
      line,
      values: Object.fromEntries(columns.map((column, index) => [column, (cells[index] ?? "").trim()])),
      ...countExtra(cells.slice(columns.length)),
    }));
  return { columns, rows, ...(unclosedLine !== null && { unclosedLine }) };
}

function countExtra(cells: string[]): { extraCells?: number } {
  const extraCells = cells.filter((cell) => cell.trim() !== "").length;
  return extraCells > 0 ? { extraCells } : {};
}

/** Write rows, with every cell quoted that needs it; cells cannot be taken for formulas. */
export function writeCsv(columns: readonly string[], rows: readonly Record<string, string>[]): string {
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? ""))];
  return lines
    .map((cells) => cells.map(writeCell).join(","))
    .join("\r\n")
    .concat("\r\n");
}

function writeCell(text: string): string {
  const safe = /^[=+\-@\t]/.test(text) && !/^\+?[\d ()-]+$/.test(text) ? `'${text}` : text;
  return /[",\r\n;]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function readLines(text: string): { lines: { line: number; cells: string[] }[]; unclosedLine: number | null } {
  const separator = findSeparator(text);
  const lines: { line: number; cells: string[] }[] = [];
  let cells: string[] = [];
  let cell = "";
  let isQuoted = false;
  let line = 1;
  let firstLine = 1;
  let quotedLine = 1;
  const endLine = () => {
    lines.push({ line: firstLine, cells: [...cells, cell] });
    cells = [];
    cell = "";
    firstLine = line + 1;
  };
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (isQuoted) {
      if (character !== '"') {
        cell += character;
      } else if (text[index + 1] === '"') {
        cell += '"';
        index += 1;
      } else {
        isQuoted = false;
      }
    } else if (character === '"' && cell.trim() === "") {
      isQuoted = true;
      quotedLine = line;
      cell = "";
    } else if (character === separator) {
      cells.push(cell);
      cell = "";
    } else if (character === "\n") {
      endLine();
    } else if (character !== "\r") {
      cell += character;
    }
    if (character === "\n") {
      line += 1;
    }
  }
  if (cell !== "" || cells.length > 0) {
    endLine();
  }
  return { lines, unclosedLine: isQuoted ? quotedLine : null };
}

function findSeparator(text: string): string {
  const head = text.slice(0, text.indexOf("\n") < 0 ? undefined : text.indexOf("\n"));
  return [",", ";", "\t"].reduce((best, one) => (head.split(one).length > head.split(best).length ? one : best), ",");
}
