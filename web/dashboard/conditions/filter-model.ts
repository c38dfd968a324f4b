/** Groups of filters as the builder shows them, and back. */

import { isObject } from "../values.ts";
import { isGroup } from "./filters.ts";
import type { Dialect, Group, Node, Operator, Rule, RuleValue, Subject } from "./model.ts";
import { isSpan, textOfValue } from "./model.ts";
import { asList } from "./values.ts";

const FIELD_OPERATORS: readonly Operator[] = [
  { name: "EQUAL", value: "text" },
  { name: "NOT_EQUAL", value: "text" },
  { name: "LARGER", value: "text" },
  { name: "LARGER_EQUAL", value: "text" },
  { name: "SMALLER", value: "text" },
  { name: "SMALLER_EQUAL", value: "text" },
  { name: "LIKE", value: "text" },
  { name: "NOT_LIKE", value: "text" },
  { name: "IN", value: "list" },
  { name: "NOT_IN", value: "list" },
  { name: "ANY_IN", value: "list" },
  { name: "ALL_IN", value: "list" },
  { name: "BETWEEN", value: "range" },
  { name: "NOT_BETWEEN", value: "range" },
];

const OPERATORS: Record<Subject, readonly Operator[]> = {
  variable: FIELD_OPERATORS,
  payload: FIELD_OPERATORS,
  subscriber: FIELD_OPERATORS,
  previousStep: ["read", "unread", "seen", "unseen"].map((name) => ({ name, value: "none" })),
  isOnline: ["online", "offline"].map((name) => ({ name, value: "none" })),
  isOnlineInLast: [{ name: "last", value: "span" }],
};

export const ONLINE_UNITS = ["minutes", "hours", "days"];

/** Integrations have no earlier steps, and their filters see nobody online. */
export function filterDialect(isIntegration: boolean): Dialect {
  const subjects: Subject[] = ["payload", "subscriber"];
  return {
    subjects: isIntegration ? subjects : [...subjects, "previousStep", "isOnline", "isOnlineInLast"],
    operatorsOf: (subject) => OPERATORS[subject],
    read: (value) => (Array.isArray(value) ? value.map(readGroup) : []),
    write: (groups) => groups.filter((group) => group.children.length > 0).map(writeGroup),
    writeRule,
    canHaveSeveral: true,
  };
}

function readGroup(json: unknown): Group {
  const group = isObject(json) ? json : {};
  const children = Array.isArray(group.children) ? group.children : [];
  return {
    kind: "group",
    join: group.value === "OR" ? "or" : "and",
    isNegated: group.isNegated === true,
    children: children.map((child) => (isGroup(child) ? readGroup(child) : readPart(child))),
    json,
  };
}

function readPart(json: unknown): Node {
  const part = isObject(json) ? json : {};
  const subject = part.on === undefined ? "payload" : part.on;
  const read = READERS[subject as Subject];
  const found = typeof subject === "string" && Object.hasOwn(READERS, subject) ? read?.(part) : null;
  return found ? { kind: "rule", subject: subject as Subject, ...found, json } : { kind: "raw", json };
}

type Read = { field: string; operator: string; value: RuleValue };
type Part = Record<string, unknown>;

const READERS: Partial<Record<Subject, (part: Part) => Read | null>> = {
  payload: readField,
  subscriber: readField,
  previousStep: ({ step = "", stepType }) =>
    typeof step === "string" && isOperator("previousStep", stepType)
      ? { field: step, operator: String(stepType), value: "" }
      : null,
  isOnline: ({ value }) =>
    ["true", "false"].includes(String(value))
      ? { field: "", operator: String(value) === "true" ? "online" : "offline", value: "" }
      : null,
  isOnlineInLast: ({ value, timeOperator }) =>
    ONLINE_UNITS.includes(String(timeOperator)) && ["string", "number"].includes(typeof value)
      ? { field: "", operator: "last", value: { amount: String(value), unit: String(timeOperator) } }
      : null,
};

function readField(part: Part): Read | null {
  const operator = part.operator === undefined ? "EQUAL" : part.operator;
  const field = part.field ?? "";
  const found = FIELD_OPERATORS.find((one) => one.name === operator);
  if (typeof field !== "string" || found === undefined) {
    return null;
  }
  const value = found.value === "range" ? readRange(part.value) : readText(part.value);
  return value === null ? null : { field, operator: found.name, value };
}

function readRange(value: unknown): RuleValue | null {
  const bounds = value === undefined || value === "" ? ["", ""] : (asList(value) ?? [value, ""]);
  const [low, high] = bounds.map(readText);
  return bounds.length === 2 && typeof low === "string" && typeof high === "string" ? [low, high] : null;
}

function readText(value: unknown): string | null {
  if (Array.isArray(value)) {
    return JSON.stringify(value);
  }
  return value === undefined ? "" : typeof value === "object" ? null : String(value);
}

function isOperator(subject: Subject, name: unknown): boolean {
  return OPERATORS[subject].some((one) => one.name === name);
}

function writeGroup(group: Group): unknown {
  const children = group.children.filter((one) => one.kind !== "group" || one.children.length > 0);
  return {
    ...(isObject(group.json) && group.json),
    type: "GROUP",
    value: group.join.toUpperCase(),
    isNegated: group.isNegated,
    children: children.map((child) => (child.kind === "group" ? writeGroup(child) : child.json)),
  };
}

function writeRule({ subject, field, operator, value, json }: Rule): unknown {
  const before = isObject(json) && (json.on ?? "payload") === subject ? json : {};
  switch (subject) {
    case "previousStep":
      return { ...before, on: subject, step: field, stepType: operator };
    case "isOnline":
      return { ...before, on: subject, value: operator === "online" };
    case "isOnlineInLast":
      return isSpan(value)
        ? { ...before, on: subject, value: amountOf(value.amount), timeOperator: value.unit }
        : before;
    default: {
      const text = Array.isArray(value) ? value.map((one) => one.trim()).join(",") : textOfValue(value);
      return { ...before, on: subject, field: withoutPrefix(field, subject), operator, value: text };
    }
  }
}

function amountOf(text: string): unknown {
  return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
}

function withoutPrefix(field: string, subject: Subject): string {
  return field.startsWith(`${subject}.`) ? field.slice(subject.length + 1) : field;
}
