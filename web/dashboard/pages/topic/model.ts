/** A topic, ids of people from a file, and sending them in batches. */
import type { components } from "../../../api/schema.d.ts";
import type { Csv } from "../../../ui/csv.ts";

export type Topic = components["schemas"]["Topic"];

/** How many people one request takes. */
export const BATCH = 100;

export type IdLine = { line: number; id: string };

export type Refusal = IdLine & { sentence: string };

const NAMES = ["subscriberid", "id", "userid", "externalid"];

/** The column that most likely has ids; without a telling name it is the first. */
export function guessIdColumn(columns: readonly string[]): string {
  const plain = columns.map((column) => column.toLowerCase().replace(/[^a-z]/g, ""));
  const place = NAMES.map((name) => plain.indexOf(name)).find((index) => index >= 0) ?? 0;
  return columns[place] ?? "";
}

/** The ids of a column, each once; a file of one column may begin with an id instead of a name. */
export function readIds(csv: Csv, column: string): IdLine[] {
  const rows = csv.rows.map((row) => ({ line: row.line, id: row.values[column] ?? "" }));
  const isNamed = csv.columns.length > 1 || NAMES.includes(column.toLowerCase().replace(/[^a-z]/g, ""));
  const lines = isNamed ? rows : [{ line: 1, id: column }, ...rows];
  const seen = new Set([""]);
  return lines.filter(({ id }) => !seen.has(id) && seen.add(id));
}

export type Answer = { added: number; errors: readonly { subscriberId: string; message: string }[] };

export type Adding = { done: number; added: number; refused: readonly Refusal[] };

/** Add the people of a batch to what was done before. */
export function addAnswer(progress: Adding, batch: readonly IdLine[], answer: Answer): Adding {
  const sentences = new Map(answer.errors.map((one) => [one.subscriberId, one.message]));
  const refused = batch.flatMap((one) => {
    const sentence = sentences.get(one.id);
    return sentence === undefined ? [] : [{ ...one, sentence }];
  });
  return {
    done: progress.done + batch.length,
    added: progress.added + answer.added,
    refused: [...progress.refused, ...refused],
  };
}
