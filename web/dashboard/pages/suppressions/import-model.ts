/** Addresses of a file: which lines can be imported, and what the server says about the others. */
import { ApiProblem } from "../../../api/problem.ts";
import { parseCsv } from "../../../ui/csv.ts";
import { texts } from "../../texts/suppressions.ts";
import { CHANNELS, channelOf, type SuppressedChannel } from "./model.ts";

export const BATCH = 1000;

export type ImportRow = { line: number; channel: SuppressedChannel; address: string; detail?: string };
export type LineProblem = { line: number; problem: string };
export type ImportFile = { rows: ImportRow[]; problems: LineProblem[]; problem?: string };

const ADDRESS_COLUMNS = ["address", "email", "phone", "e-mail", "number"];

/** Read a file. Whether something is an address is decided by the server. */
export function readImport(text: string): ImportFile {
  const { columns, rows } = parseCsv(text);
  const find = (names: readonly string[]) => columns.filter((one) => names.includes(one.toLowerCase()));
  const addressColumns = find(ADDRESS_COLUMNS);
  const [channelColumn] = find(["channel"]);
  const [detailColumn] = find(["detail"]);
  const file: ImportFile = { rows: [], problems: [] };
  if (addressColumns.length === 0) {
    return { ...file, problem: texts.noColumn };
  }
  for (const { line, values } of rows) {
    const address = addressColumns.map((name) => values[name] ?? "").find((value) => value !== "") ?? "";
    const channel = (channelColumn && values[channelColumn]?.toLowerCase()) || channelOf(address);
    const known = CHANNELS.find((one) => one === channel);
    if (address === "") {
      file.problems.push({ line, problem: texts.noAddress });
    } else if (known === undefined) {
      file.problems.push({ line, problem: texts.noChannel(channel) });
    } else {
      const detail = detailColumn && values[detailColumn];
      file.rows.push({ line, channel: known, address, ...(detail && { detail }) });
    }
  }
  return rows.length === 0 ? { ...file, problem: texts.noRows } : file;
}

/** Cut rows into pieces that the server takes at once. */
export function listBatches(rows: readonly ImportRow[]): ImportRow[][] {
  const count = Math.ceil(rows.length / BATCH);
  return Array.from({ length: count }, (_, index) => rows.slice(index * BATCH, (index + 1) * BATCH));
}

/** The lines of a batch that the server refuses; none if it refuses something else. */
export function refusedLines(error: unknown, batch: readonly ImportRow[]): LineProblem[] {
  if (!(error instanceof ApiProblem)) {
    return [];
  }
  const found = new Map<number, LineProblem>();
  for (const [path, problem] of Object.entries(error.fields)) {
    const row = batch[Number(/^suppressions\.(\d+)/.exec(path)?.[1] ?? -1)];
    if (row) {
      found.set(row.line, { line: row.line, problem: `${row.address} ${problem}` });
    }
  }
  return [...found.values()];
}
