/** Compares values as the service does; tests of both sides use tests/conditions/cases.json. */
import { isObject } from "../values.ts";
import { findDate } from "./moments.ts";

export type Values = Record<string, unknown>;

const MAX_PATTERN = 1000;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** The value at a path such as `room.members.0` or `room.members[0]`; undefined if there is none. */
export function findValue(value: unknown, path: string): unknown {
  let found = value;
  for (const part of path.replaceAll(/\[(\d{1,9})\]/g, ".$1").split(".")) {
    if (Array.isArray(found)) {
      const index = /^\d+$/.test(part) ? Number(part.slice(0, 9)) : -1;
      found = index >= 0 ? found[index] : undefined;
    } else if (isObject(found)) {
      found = Object.hasOwn(found, part) ? found[part] : undefined;
    } else {
      return undefined;
    }
  }
  return found;
}

export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** The number that a value is or spells; whole numbers of many digits stay exact. */
export function findNumber(value: unknown): number | bigint | null {
  if (typeof value === "number") {
    return value;
  }
  const text = typeof value === "string" && value.length <= 64 ? value.trim() : "";
  if (!NUMBER.test(text)) {
    return null;
  }
  const number = Number(text);
  if (Number.isSafeInteger(number) || !/^[+-]?\d+$/.test(text)) {
    return Number.isFinite(number) ? number : null;
  }
  return BigInt(text.replace("+", ""));
}

export function findBoolean(value: unknown): boolean | null {
  if (typeof value === "boolean") {
    return value;
  }
  const spelled = typeof value === "string" ? value.trim().toLowerCase() : "";
  return spelled === "true" ? true : spelled === "false" ? false : null;
}

/** Whether values are equal by meaning: 5 and "5", true and "true", two spellings of one moment. */
export function isEqual(first: unknown, second: unknown): boolean {
  if (isAbsent(first) || isAbsent(second)) {
    return isAbsent(first) && isAbsent(second);
  }
  if (typeof first === "string" && typeof second === "string") {
    return first === second || areSame(findDate(first), findDate(second));
  }
  if (typeof first === "boolean" || typeof second === "boolean") {
    return areSame(findBoolean(first), findBoolean(second));
  }
  if (typeof first === "object" || typeof second === "object") {
    return isDeeplyEqual(parsed(first), parsed(second));
  }
  return areSame(findNumber(first), findNumber(second));
}

/** Equal in all members; as in the service, true is 1 inside of lists and objects. */
export function isDeeplyEqual(first: unknown, second: unknown): boolean {
  if (Array.isArray(first) && Array.isArray(second)) {
    return first.length === second.length && first.every((item, place) => isDeeplyEqual(item, second[place]));
  }
  if (isObject(first) && isObject(second)) {
    const names = Object.keys(first);
    return (
      names.length === Object.keys(second).length &&
      names.every((name) => Object.hasOwn(second, name) && isDeeplyEqual(first[name], second[name]))
    );
  }
  return numbered(first) === numbered(second);
}

function numbered(value: unknown): unknown {
  return typeof value === "boolean" ? Number(value) : value;
}

/** -1, 0 or 1 as the first is less than, equal to or greater than the second; null if they have no order. */
export function order(first: unknown, second: unknown): number | null {
  for (const find of [findNumber, findDate]) {
    const low = find(first);
    const high = find(second);
    if (low !== null && high !== null) {
      return low > high ? 1 : low < high ? -1 : 0;
    }
  }
  return typeof first === "string" && typeof second === "string" ? orderTexts(first, second) : null;
}

export function isBetween(actual: unknown, low: unknown, high: unknown): boolean {
  const above = order(actual, low);
  const below = order(actual, high);
  return above !== null && below !== null && above >= 0 && below <= 0;
}

/** The values of a list, a JSON list or a text with commas; null for a single value. */
export function asList(expected: unknown): unknown[] | null {
  if (Array.isArray(expected)) {
    return expected;
  }
  if (typeof expected !== "string") {
    return null;
  }
  const found = parsed(expected);
  if (Array.isArray(found)) {
    return found;
  }
  return expected.includes(",") ? expected.split(",").map((part) => part.trim()) : null;
}

/** Whether a text matches a pattern with `%` and `_` as in SQL, or contains one without either. */
export function isLike(text: string, pattern: string): boolean {
  if (!/[%_]/.test(pattern)) {
    return text.includes(pattern);
  }
  if ([...pattern].length > MAX_PATTERN) {
    return false;
  }
  const letters = [...text];
  const [first = [], ...rest] = pattern.split("%").map((part) => [...part]);
  const last = rest.pop();
  if (last === undefined) {
    return first.length === letters.length && matchesAt(letters, first, 0);
  }
  if (!matchesAt(letters, first, 0)) {
    return false;
  }
  let at = first.length;
  for (const part of rest) {
    const found = searchFrom(letters, part, at);
    if (found < 0) {
      return false;
    }
    at = found + part.length;
  }
  const tail = letters.length - last.length;
  return at <= tail && matchesAt(letters, last, tail);
}

function searchFrom(letters: readonly string[], part: readonly string[], from: number): number {
  for (let at = from; at + part.length <= letters.length; at += 1) {
    if (matchesAt(letters, part, at)) {
      return at;
    }
  }
  return -1;
}

function matchesAt(letters: readonly string[], part: readonly string[], at: number): boolean {
  return (
    at + part.length <= letters.length &&
    part.every((letter, place) => letter === "_" || letter === letters[at + place])
  );
}

/** By code points; comparing texts in JavaScript goes by halves of them. */
function orderTexts(first: string, second: string): number {
  const [left, right] = [[...first], [...second]];
  for (let place = 0; place < Math.min(left.length, right.length); place += 1) {
    const difference = (left[place]?.codePointAt(0) as number) - (right[place]?.codePointAt(0) as number);
    if (difference !== 0) {
      return Math.sign(difference);
    }
  }
  return Math.sign(left.length - right.length);
}

function areSame<Value extends number | bigint | boolean>(first: Value | null, second: Value | null): boolean {
  return first !== null && second !== null && !(first < second) && !(first > second);
}

/** What a text of a JSON list or object says; other values as they are. */
function parsed(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) {
    return value;
  }
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
