/** The operators of JSON Logic over evaluated values; they never throw. */
import { isObject } from "../values.ts";
import { asList, findNumber, isAbsent, isBetween, isDeeplyEqual, isEqual, order } from "./values.ts";

export const MANY = 1000;

type Operation = (...values: unknown[]) => unknown;

/** The truth of a value in JSON Logic: an empty list is false, the text "0" is true. */
export function isTruthy(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : isObject(value) || Boolean(value);
}

export function textOf(value: unknown): string {
  return Array.isArray(value) ? value.map(textOf).join(",") : isAbsent(value) ? "" : String(value);
}

function isStrictlyEqual(first: unknown, second: unknown): boolean {
  const isPlain = (value: unknown) => typeof value !== "boolean" && typeof value !== "string";
  return isDeeplyEqual(first, second) && (typeof first === typeof second || (isPlain(first) && isPlain(second)));
}

/** Each value is compared with the next one; absent values, and those without an order, never pass. */
function ordered(accepts: (found: number) => boolean): Operation {
  return (...values) =>
    values.slice(1).every((value, place) => {
      const found = order(values[place], value);
      return found !== null && accepts(found);
    });
}

function isIn(needle: unknown, haystack: unknown): boolean {
  if (isAbsent(needle)) {
    return false;
  }
  if (typeof haystack === "string") {
    return typeof needle !== "object" && haystack.includes(textOf(needle));
  }
  return Array.isArray(haystack) && haystack.some((item) => isEqual(needle, item));
}

function listed(expected: unknown): unknown[] {
  const found = asList(expected);
  return found && found.length > 0 ? found : [expected];
}

const isOneOf: Operation = (actual, expected) => isIn(actual, listed(expected));
const contains: Operation = (actual, expected) => isIn(expected, actual);
const containsAny: Operation = (actual, expected) =>
  (Array.isArray(expected) ? expected : listed(expected)).some((one) => isIn(one, actual));
const starts: Operation = (actual, expected) =>
  typeof actual === "string" && typeof expected === "string" && actual.startsWith(expected);
const ends: Operation = (actual, expected) =>
  typeof actual === "string" && typeof expected === "string" && actual.endsWith(expected);
const between: Operation = (actual, ...expected) => {
  const bounds = expected.length === 1 ? (asList(expected[0]) ?? []) : expected;
  return bounds.length === 2 && isBetween(actual, bounds[0], bounds[1]);
};
const isEmpty = (value: unknown) =>
  isAbsent(value) ||
  value === "" ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);

function not(operation: Operation): Operation {
  return (...values) => !operation(...values);
}

/** An operator of arithmetic; the result is null if a value or the result is no number. */
function numeric(operation: (numbers: number[]) => number): Operation {
  return (...values) => {
    const found = values.map(findNumber);
    if (found.length === 0 || found.includes(null)) {
      return null;
    }
    const result = operation(found.map(Number));
    return Number.isFinite(result) ? result : null;
  };
}

const substr: Operation = (text, start, length) => {
  const source = [...textOf(text)];
  const from = Math.trunc(Number(findNumber(start) ?? 0));
  const at = from < 0 ? Math.max(source.length + from, 0) : from;
  if (isAbsent(length)) {
    return source.slice(at).join("");
  }
  const count = Math.trunc(Number(findNumber(length) ?? 0));
  return source.slice(at, count >= 0 ? at + count : count).join("");
};

const first = (numbers: number[]) => numbers[0] as number;
const second = (numbers: number[]) => numbers[1] as number;

/** Each with the minimum and maximum number of values. */
export const OPERATIONS: Record<string, readonly [number, number, Operation]> = {
  "==": [2, 2, isEqual],
  "=": [2, 2, isEqual],
  "!=": [2, 2, (one, other) => !isEqual(one, other)],
  "===": [2, 2, isStrictlyEqual],
  "!==": [2, 2, (one, other) => !isStrictlyEqual(one, other)],
  ">": [2, 3, ordered((found) => found > 0)],
  ">=": [2, 3, ordered((found) => found >= 0)],
  "<": [2, 3, ordered((found) => found < 0)],
  "<=": [2, 3, ordered((found) => found <= 0)],
  "!": [1, 1, not(isTruthy)],
  "!!": [1, 1, isTruthy],
  in: [2, 2, isIn],
  notIn: [2, 2, not(isOneOf)],
  contains: [2, 2, contains],
  doesNotContain: [2, 2, not(contains)],
  notContains: [2, 2, not(contains)],
  containsAny: [2, 2, containsAny],
  doesNotContainAny: [2, 2, not(containsAny)],
  startsWith: [2, 2, starts],
  beginsWith: [2, 2, starts],
  doesNotBeginWith: [2, 2, not(starts)],
  doesNotStartWith: [2, 2, not(starts)],
  endsWith: [2, 2, ends],
  doesNotEndWith: [2, 2, not(ends)],
  between: [2, 3, between],
  notBetween: [2, 3, not(between)],
  null: [1, 2, (value) => isAbsent(value)],
  notNull: [1, 2, (value) => !isAbsent(value)],
  isEmpty: [1, 2, (value) => isEmpty(value)],
  isNonEmpty: [1, 2, (value) => !isEmpty(value)],
  max: [1, MANY, numeric((numbers) => Math.max(...numbers))],
  min: [1, MANY, numeric((numbers) => Math.min(...numbers))],
  "+": [1, MANY, numeric((numbers) => numbers.reduce((sum, one) => sum + one, 0))],
  "-": [1, 2, numeric((numbers) => (numbers.length === 1 ? -first(numbers) : first(numbers) - second(numbers)))],
  "*": [1, MANY, numeric((numbers) => numbers.reduce((product, one) => product * one, 1))],
  "/": [2, 2, numeric((numbers) => first(numbers) / second(numbers))],
  "%": [2, 2, numeric((numbers) => first(numbers) % second(numbers))],
  cat: [0, MANY, (...values) => values.map(textOf).join("")],
  substr: [2, 3, substr],
  merge: [0, MANY, (...values) => values.flatMap((value) => (Array.isArray(value) ? value : [value]))],
};
