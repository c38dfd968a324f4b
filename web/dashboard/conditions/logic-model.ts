/** JSON Logic as the builder shows it, and back; it reads also what other dashboards write. */

import { isObject } from "../values.ts";
import type { Dialect, Group, Node, Operator, Rule, RuleValue, ValueKind } from "./model.ts";
import { isSpan, SPAN_UNITS } from "./model.ts";
import { readRule } from "./rules.ts";
import { findNumber } from "./values.ts";

const KINDS: Record<string, ValueKind> = {
  "==": "text",
  "!=": "text",
  ">": "text",
  ">=": "text",
  "<": "text",
  "<=": "text",
  contains: "text",
  doesNotContain: "text",
  startsWith: "text",
  doesNotStartWith: "text",
  endsWith: "text",
  doesNotEndWith: "text",
  in: "list",
  notIn: "list",
  containsAny: "list",
  doesNotContainAny: "list",
  between: "range",
  notBetween: "range",
  notNull: "none",
  null: "none",
  isNonEmpty: "none",
  isEmpty: "none",
  "!!": "none",
  "!": "none",
  moreThanXAgo: "span",
  lessThanXAgo: "span",
  withinLast: "span",
  notWithinLast: "span",
  exactlyXAgo: "span",
};

const ALIASES: Record<string, string> = {
  "=": "==",
  beginsWith: "startsWith",
  doesNotBeginWith: "doesNotStartWith",
  notContains: "doesNotContain",
};

const NEGATIONS: Record<string, string> = {
  "==": "!=",
  contains: "doesNotContain",
  startsWith: "doesNotStartWith",
  endsWith: "doesNotEndWith",
  in: "notIn",
  containsAny: "doesNotContainAny",
  between: "notBetween",
  null: "notNull",
  isEmpty: "isNonEmpty",
  "!!": "!",
};

const OPERATORS: readonly Operator[] = Object.entries(KINDS).map(([name, value]) => ({ name, value }));

export const logicDialect: Dialect = {
  subjects: ["variable"],
  operatorsOf: () => OPERATORS,
  read: (value) => {
    const root = readNode(value);
    return isNothing(value) ? [] : [root.kind === "group" ? root : groupOf([root], value)];
  },
  write: ([group]) => (group === undefined || group.children.length === 0 ? undefined : writeNode(group)),
  writeRule,
  canHaveSeveral: false,
};

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || (isObject(value) && Object.keys(value).length === 0);
}

function groupOf(children: readonly Node[], json: unknown): Group {
  return { kind: "group", join: "and", isNegated: false, children, json };
}

export function readNode(json: unknown): Node {
  const read = readRule(json);
  if (read === null) {
    return { kind: "raw", json };
  }
  const { operator, values } = read;
  if (operator === "and" || operator === "or") {
    return { kind: "group", join: operator, isNegated: false, children: values.map(readNode), json };
  }
  if (operator === "!" && values.length === 1) {
    return readNegation(json, values[0]);
  }
  return readComparison(json, operator, values) ?? { kind: "raw", json };
}

function readNegation(json: unknown, inner: unknown): Node {
  const field = readVariable(inner);
  if (field !== null) {
    return rule(json, field, "!", "");
  }
  const node = readNode(inner);
  if (node.kind === "group" && !node.isNegated) {
    return { ...node, isNegated: true, json };
  }
  const negation = node.kind === "rule" ? NEGATIONS[node.operator] : undefined;
  return node.kind === "rule" && negation ? { ...node, operator: negation, json } : { kind: "raw", json };
}

function readComparison(json: unknown, given: string, values: unknown[]): Rule | null {
  const operator = ALIASES[given] ?? given;
  const own = operator === "var" ? readVariable(json) : null;
  if (own !== null) {
    return rule(json, own, "!!", "");
  }
  if (operator === "in" && values.length === 2 && readVariable(values[0]) === null) {
    return readField(json, "contains", values[1], values.slice(0, 1));
  }
  if (operator === "<=" && values.length === 3) {
    return readField(json, "between", values[1], [values[0], values[2]]);
  }
  if ((operator === "==" || operator === "!=") && values[1] === null) {
    return readField(json, operator === "==" ? "null" : "notNull", values[0], []);
  }
  return Object.hasOwn(KINDS, operator) ? readField(json, operator, values[0], values.slice(1)) : null;
}

function readField(json: unknown, operator: string, variable: unknown, rest: unknown[]): Rule | null {
  const field = readVariable(variable);
  const value = field === null ? null : readValue(KINDS[operator] as ValueKind, rest);
  return field === null || value === null ? null : rule(json, field, operator, value);
}

function rule(json: unknown, field: string, operator: string, value: RuleValue): Rule {
  return { kind: "rule", subject: "variable", field, operator, value, json };
}

function readVariable(json: unknown): string | null {
  const read = readRule(json);
  const [path] = read?.values ?? [];
  return read?.operator === "var" && read.values.length === 1 && typeof path === "string" ? path : null;
}

function readValue(kind: ValueKind, rest: unknown[]): RuleValue | null {
  const [first] = rest;
  switch (kind) {
    case "none":
      return "";
    case "text":
      return rest.length === 1 ? readText(first) : null;
    case "list":
      return rest.length === 1 && Array.isArray(first) ? readList(first) : null;
    case "range":
      return readRange(rest.length === 1 && Array.isArray(first) ? first : rest);
    case "span":
      return rest.length === 1 ? readSpan(first) : null;
  }
}

function readText(value: unknown): string | null {
  return ["string", "number", "boolean"].includes(typeof value) ? String(value) : null;
}

function readList(values: unknown[]): string | null {
  const texts = values.map(readText);
  return texts.some((text) => text === null || text.includes(",")) ? null : texts.join(", ");
}

function readRange(bounds: unknown[]): RuleValue | null {
  const [low, high] = bounds.map(readText);
  return bounds.length === 2 && typeof low === "string" && typeof high === "string" ? [low, high] : null;
}

function readSpan(value: unknown): RuleValue | null {
  const amount = isObject(value) ? readText(value.amount) : null;
  return isObject(value) && amount !== null && SPAN_UNITS.includes(String(value.unit))
    ? { amount, unit: String(value.unit) }
    : null;
}

function writeNode(node: Node): unknown {
  if (node.kind !== "group") {
    return node.json;
  }
  // A group without rules is no valid rule.
  const children = node.children.filter((one) => one.kind !== "group" || one.children.length > 0);
  const joined = { [node.join]: children.map(writeNode) };
  return node.isNegated ? { "!": joined } : joined;
}

function writeRule({ field, operator, value }: Rule, type: string): unknown {
  const variable = { var: field };
  if (isSpan(value)) {
    return { [operator]: [variable, { amount: typed(value.amount, "number"), unit: value.unit }] };
  }
  if (Array.isArray(value)) {
    return { [operator]: [variable, value.map((one) => typed(one, type))] };
  }
  switch (KINDS[operator]) {
    case "none":
      return { [operator]: [variable] };
    case "list": {
      const items = String(value)
        .split(",")
        .map((one) => one.trim());
      return {
        [operator]: [
          variable,
          items.filter((one, place) => one !== "" || place < items.length - 1).map((one) => typed(one, type)),
        ],
      };
    }
    default:
      return { [operator]: [variable, typed(String(value), type)] };
  }
}

/** A text as a value of the field's type, if it can be one. */
function typed(text: string, type: string): unknown {
  if (type === "boolean" && (text === "true" || text === "false")) {
    return text === "true";
  }
  const number = type === "number" || type === "integer" ? findNumber(text) : null;
  return typeof number === "number" ? number : text;
}
