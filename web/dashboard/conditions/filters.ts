/** Decides groups of filters as the service does: one of the groups has to pass. */

import { isObject } from "../values.ts";
import { findDate } from "./moments.ts";
import {
  asList,
  findBoolean,
  findNumber,
  findValue,
  isAbsent,
  isBetween,
  isEqual,
  isLike,
  order,
  type Values,
} from "./values.ts";

/** What filters ask about beyond the variables. */
export type Circumstances = {
  now: number;
  /** What an earlier in-app or e-mail step came to; undefined if there is no such step. */
  findPrevious: (reference: string) => Values | undefined;
};

/** `problem`: the filter cannot be decided, so that it does not pass. */
export type FilterResult = { passed: boolean; problem?: boolean; actual?: unknown };

const MAX_FIELD = 512;
const UNITS: Record<string, number> = { minutes: 60_000, hours: 3_600_000, days: 86_400_000 };
const PROBLEM: FilterResult = { passed: false, problem: true };

/** Whether any group passes; an empty list does. */
export function decideFilters(filters: unknown, variables: Values, at: Circumstances | null): boolean {
  const groups = Array.isArray(filters) ? filters : [];
  return groups.length === 0 || groups.some((group) => decideGroup(group, variables, at).passed);
}

export function isGroup(one: unknown): one is Values {
  return isObject(one) && "children" in one;
}

export function decideGroup(group: unknown, variables: Values, at: Circumstances | null): FilterResult {
  if (!isObject(group)) {
    return PROBLEM;
  }
  const children = Array.isArray(group.children) ? group.children : [];
  if (children.length === 0) {
    // A group without children passes, negated or not.
    return { passed: true };
  }
  const results = children.map((child) => {
    const found = isGroup(child) ? decideGroup(child, variables, at) : decidePart(child, variables, at);
    return found.problem ? null : found.passed;
  });
  const joined = joinResults(results, group.value === "OR");
  return joined === null ? PROBLEM : { passed: joined !== (group.isNegated === true) };
}

/** Null where what is not known could change the result, so that negating it passes nothing. */
export function joinResults(results: readonly (boolean | null)[], decisive: boolean): boolean | null {
  if (results.includes(decisive)) {
    return decisive;
  }
  return results.includes(null) ? null : !decisive;
}

export function decidePart(part: unknown, variables: Values, at: Circumstances | null): FilterResult {
  const kind = isObject(part) ? (part.on ?? (part.on === undefined ? "payload" : null)) : null;
  if (!isObject(part) || typeof kind !== "string") {
    return PROBLEM;
  }
  if (kind === "previousStep" || kind === "isOnline" || kind === "isOnlineInLast") {
    return at === null ? PROBLEM : decideKind(kind, part, variables, at);
  }
  const operator = part.operator === undefined ? "EQUAL" : String(part.operator);
  const known = Object.hasOwn(OPERATORS, operator) ? OPERATORS[operator] : undefined;
  if (known === undefined || (kind !== "payload" && kind !== "subscriber")) {
    return PROBLEM;
  }
  const [isNegated, compare] = known;
  const actual = findActual(variables[kind], kind, String(part.field ?? "").slice(0, MAX_FIELD));
  const holds = !isAbsent(actual) && compare(actual, part.value ?? null);
  return { passed: holds !== isNegated, actual };
}

function decideKind(kind: string, part: Values, variables: Values, at: Circumstances): FilterResult {
  if (kind === "previousStep") {
    return decidePrevious(part, at);
  }
  const person = isObject(variables.subscriber) ? variables.subscriber : {};
  const isOnline = person.isOnline === true;
  if (kind === "isOnline") {
    const expected = findBoolean(part.value);
    return expected === null ? PROBLEM : { passed: isOnline === expected, actual: isOnline };
  }
  const amount = findNumber(part.value);
  const length = UNITS[String(part.timeOperator)];
  if (amount === null || length === undefined) {
    return PROBLEM;
  }
  const lastOnline = findDate(person.lastOnlineAt);
  const isRecent = lastOnline !== null && at.now - lastOnline <= Number(amount) * length;
  return { passed: isOnline || isRecent, actual: isOnline ? true : person.lastOnlineAt };
}

function decidePrevious(part: Values, at: Circumstances): FilterResult {
  const outputs = typeof part.step === "string" ? at.findPrevious(part.step) : undefined;
  if (outputs === undefined) {
    return PROBLEM;
  }
  const [seen, read] = [outputs.seen === true, outputs.read === true];
  const marks: Values = { read, unread: !read, seen, unseen: !seen };
  const passed = typeof part.stepType === "string" && Object.hasOwn(marks, part.stepType) && marks[part.stepType];
  return typeof passed === "boolean" && String(part.stepType) in marks ? { passed, actual: { seen, read } } : PROBLEM;
}

function findActual(values: unknown, source: string, field: string): unknown {
  const found = findValue(values, field);
  const prefix = `${source}.`;
  return found === undefined && field.startsWith(prefix) ? findValue(values, field.slice(prefix.length)) : found;
}

type Comparison = (actual: unknown, expected: unknown) => boolean;

const itemsOf = (value: unknown) => (Array.isArray(value) ? value : [value]);

function listedOf(expected: unknown): unknown[] {
  const found = asList(expected);
  return found && found.length > 0 ? found : itemsOf(expected);
}

const isAnyIn: Comparison = (actual, expected) => {
  const listed = listedOf(expected);
  return itemsOf(actual).some((item) => listed.some((one) => isEqual(item, one)));
};

const areAllIn: Comparison = (actual, expected) => {
  const [items, listed] = [itemsOf(actual), listedOf(expected)];
  return items.length > 0 && items.every((item) => listed.some((one) => isEqual(item, one)));
};

/** A value is in a list, a list has one of the values, or a text contains the single value. */
const isIn: Comparison = (actual, expected) => {
  const listed = asList(expected);
  if (Array.isArray(actual)) {
    return isAnyIn(actual, [expected, ...(listed ?? [])]);
  }
  if (listed === null && typeof actual === "string" && typeof expected === "string") {
    return actual.includes(expected);
  }
  return isAnyIn(actual, expected);
};

const between: Comparison = (actual, expected) => {
  const bounds = asList(expected) ?? [];
  return bounds.length === 2 && isBetween(actual, bounds[0], bounds[1]);
};

const like: Comparison = (actual, expected) => {
  if (typeof actual === "object" || typeof expected === "object") {
    return false;
  }
  const pattern = typeof expected === "boolean" ? (expected ? "True" : "False") : String(expected);
  return isLike(String(actual), pattern);
};

function ordered(accepts: (found: number) => boolean): Comparison {
  return (actual, expected) => {
    const found = order(actual, expected);
    return found !== null && accepts(found);
  };
}

/** Each with whether it is negated: an absent value fails an operator and passes its negation. */
export const OPERATORS: Record<string, readonly [boolean, Comparison]> = {
  EQUAL: [false, isEqual],
  NOT_EQUAL: [true, isEqual],
  LARGER: [false, ordered((found) => found > 0)],
  LARGER_EQUAL: [false, ordered((found) => found >= 0)],
  SMALLER: [false, ordered((found) => found < 0)],
  SMALLER_EQUAL: [false, ordered((found) => found <= 0)],
  IN: [false, isIn],
  NOT_IN: [true, isIn],
  ALL_IN: [false, areAllIn],
  ANY_IN: [false, isAnyIn],
  BETWEEN: [false, between],
  NOT_BETWEEN: [true, between],
  LIKE: [false, like],
  NOT_LIKE: [true, like],
};
