/** From the lines of a file to subscribers: which column is what, and what is wrong before anything is sent. */
import type { components } from "../../../api/schema.d.ts";
import type { Csv, CsvRow } from "../../../ui/csv.ts";
import { readData, type TEXT_FIELDS } from "../../parts/subscriber-fields.ts";
import { texts as common } from "../../texts/people.ts";
import { texts } from "../../texts/subscriber-import.ts";

export type SourceFile = { name: string; csv: Csv };

export type SubscriberIn = components["schemas"]["SubscriberIn"];

type TextField = (typeof TEXT_FIELDS)[number];

/** What a column goes to: a field, the whole custom data, a member of it with the column's name, or nothing. */
export type Target = TextField | "subscriberId" | "data" | "member" | "";

export type Mapping = Record<string, Target>;

export type LineProblem = { line: number; sentence: string };

export type Line = { line: number; subscriber: SubscriberIn };

export type Checked = { lines: Line[]; problems: LineProblem[] };

const NAMES: Record<string, Target> = {
  subscriberid: "subscriberId",
  id: "subscriberId",
  userid: "subscriberId",
  externalid: "subscriberId",
  customerid: "subscriberId",
  firstname: "firstName",
  givenname: "firstName",
  name: "firstName",
  lastname: "lastName",
  surname: "lastName",
  familyname: "lastName",
  email: "email",
  emailaddress: "email",
  mail: "email",
  phone: "phone",
  phonenumber: "phone",
  mobile: "phone",
  tel: "phone",
  avatar: "avatar",
  avatarurl: "avatar",
  picture: "avatar",
  locale: "locale",
  language: "locale",
  timezone: "timezone",
  tz: "timezone",
  data: "data",
  customdata: "data",
};

/** Guess what the columns are by their names, each field once. */
export function guessMapping(columns: readonly string[]): Mapping {
  const taken = new Set<Target>();
  const mapping: Mapping = {};
  for (const column of columns) {
    const guess = column.startsWith("data.") ? "member" : (NAMES[column.toLowerCase().replace(/[^a-z]/g, "")] ?? "");
    mapping[column] = guess !== "member" && taken.has(guess) ? "" : guess;
    taken.add(guess);
  }
  return mapping;
}

/** The name that a column has among custom data. */
export function memberOf(column: string): string {
  return column.replace(/^data\./, "");
}

/** Why a file as a whole cannot be imported. */
export function fileProblem(csv: Csv): string | null {
  if (csv.columns.every((column) => column === "")) {
    return texts.noColumns;
  }
  if (csv.unclosedLine !== undefined) {
    return texts.unclosed(csv.unclosedLine);
  }
  const same = csv.columns.find((column, index) => column !== "" && csv.columns.indexOf(column) !== index);
  if (same !== undefined) {
    return texts.sameColumn(same);
  }
  return csv.rows.length === 0 ? texts.noRows : null;
}

/** Why a choice of columns cannot work. */
export function mappingProblem(mapping: Mapping): string | null {
  const targets = Object.values(mapping).filter((target) => target !== "" && target !== "member");
  const twice = targets.find((target, index) => targets.indexOf(target) !== index);
  if (twice !== undefined) {
    return texts.twice(common.fields[twice as keyof typeof common.fields]);
  }
  return targets.includes("subscriberId") ? null : texts.noId;
}

/** Split the rows into those that can be sent, and the problems of the others. */
export function checkRows(rows: readonly CsvRow[], mapping: Mapping): Checked {
  const lines: Line[] = [];
  const problems: LineProblem[] = [];
  const seen = new Map<string, number>();
  for (const row of rows) {
    const { subscriber, sentences } = readRow(row, mapping);
    const before = seen.get(subscriber.subscriberId);
    if (before !== undefined && subscriber.subscriberId !== "") {
      sentences.push(texts.sameId(before));
    }
    seen.set(subscriber.subscriberId, before ?? row.line);
    if (sentences.length > 0) {
      problems.push({ line: row.line, sentence: sentences.join(" ") });
    } else {
      lines.push({ line: row.line, subscriber });
    }
  }
  return { lines, problems };
}

function readRow(row: CsvRow, mapping: Mapping): { subscriber: SubscriberIn; sentences: string[] } {
  const subscriber: SubscriberIn = { subscriberId: "" };
  const sentences: string[] = row.extraCells === undefined ? [] : [texts.extraCells];
  const members: Record<string, unknown> = {};
  let data: Record<string, unknown> | null = null;
  for (const [column, target] of Object.entries(mapping)) {
    const value = row.values[column] ?? "";
    if (target === "" || value === "") {
      continue;
    }
    if (target === "member") {
      members[memberOf(column)] = value;
    } else if (target === "data") {
      const read = readData(value);
      data = read.problem === undefined ? read.data : null;
      sentences.push(...(read.problem === undefined ? [] : [read.problem]));
    } else {
      subscriber[target] = value;
      sentences.push(...problemsOf(target, value));
    }
  }
  if (subscriber.subscriberId === "") {
    sentences.unshift(texts.missingId);
  }
  if (data !== null || Object.keys(members).length > 0) {
    subscriber.data = { ...data, ...members };
  }
  return { subscriber, sentences };
}

const EMAIL = /^[^\s@<>]+@[^\s@<>]+$/;
const LOCALE = /^[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*$/;
const LONGEST_ID = 255;
const LONGEST_TEXT = 2048;

function problemsOf(target: TextField | "subscriberId", value: string): string[] {
  const found: string[] = [];
  if (target === "subscriberId") {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    return value.length > LONGEST_ID || /[\u0000-\u001f\u007f]/.test(value) ? [texts.badId] : [];
  }
  if (value.length > LONGEST_TEXT) {
    found.push(texts.tooLong(common.fields[target]));
  }
  if (target === "email" && !EMAIL.test(value)) {
    found.push(texts.badEmail(value));
  }
  if (target === "locale" && !LOCALE.test(value)) {
    found.push(texts.badLocale(value));
  }
  if (target === "timezone" && !isZone(value)) {
    found.push(texts.badZone(value));
  }
  return found;
}

const zones = new Map<string, boolean>();

/** Whether the browser knows a time zone, old names included; asking it again and again would take long. */
function isZone(name: string): boolean {
  let known = zones.get(name);
  if (known === undefined) {
    try {
      known = new Intl.DateTimeFormat("en", { timeZone: name }) !== null && !/^[+-]/.test(name);
    } catch {
      known = false;
    }
    zones.set(name, known);
  }
  return known;
}
