/** Evaluates JSON Logic as the service does: a step runs if its rule is true. */

import { isObject } from "../values.ts";
import { compareDates, DATE_OPERATORS } from "./dates.ts";
import { isTruthy, MANY, OPERATIONS } from "./operations.ts";
import { readRule } from "./rules.ts";
import { findValue, isAbsent } from "./values.ts";

const MAX_PATH = 512;
const MAX_WORK = 25_000;

/** Whether a rule passes; one that takes too much work does not. */
export function decideLogic(rule: unknown, variables: unknown, now: number): boolean {
  try {
    return isTruthy(new Evaluation(now).value(rule, variables));
  } catch (error) {
    if (error instanceof WorkLimitExceeded || error instanceof RangeError) {
      return false;
    }
    throw error;
  }
}

class WorkLimitExceeded extends Error {}

export class Evaluation {
  readonly #now: number;
  #work = MAX_WORK;

  constructor(now: number) {
    this.#now = now;
  }

  value(rule: unknown, data: unknown): unknown {
    this.#charge(1);
    if (Array.isArray(rule)) {
      return rule.map((part) => this.value(part, data));
    }
    const read = readRule(rule);
    if (read === null) {
      return rule;
    }
    const { operator, values } = read;
    const [minimum, limit] = boundsOf(operator);
    if (values.length < minimum || values.length > limit) {
      return null;
    }
    const lazy = Object.hasOwn(LAZY, operator) ? LAZY[operator] : undefined;
    return lazy
      ? lazy(this, values, data)
      : this.#apply(
          operator,
          values.map((one) => this.value(one, data)),
        );
  }

  #apply(operator: string, values: unknown[]): unknown {
    const sizes = values.map(measure);
    const isPairwise = operator === "containsAny" || operator === "doesNotContainAny";
    this.#charge(sizes.reduce((all, one) => (isPairwise ? all * one : all + one), isPairwise ? 1 : 0));
    if (Object.hasOwn(DATE_OPERATORS, operator)) {
      return compareDates(operator, values[0], values[1], this.#now);
    }
    return OPERATIONS[operator]?.[2](...values);
  }

  variable([path = "", otherwise]: unknown[], data: unknown): unknown {
    const name = this.value(path, data);
    const found = name === null || name === "" ? data : findNamed(data, name);
    return isAbsent(found) ? (otherwise === undefined ? null : this.value(otherwise, data)) : found;
  }

  missing(given: unknown[], data: unknown): unknown[] {
    const names = given.map((one) => this.value(one, data));
    const flat = Array.isArray(names[0]) ? names[0] : names;
    this.#charge(flat.length);
    return flat.filter((name) => {
      const found = findNamed(data, name);
      return isAbsent(found) || found === "";
    });
  }

  missingSome([needed, names]: unknown[], data: unknown): unknown[] {
    const count = this.value(needed, data);
    const found = this.value(names, data);
    const listed = Array.isArray(found) ? found : [found];
    const absent = this.missing([listed], data);
    const isCount = Number.isInteger(count) || typeof count === "boolean";
    return isCount && listed.length - absent.length >= Number(count) ? [] : absent;
  }

  choose(values: unknown[], data: unknown): unknown {
    for (let place = 0; place < values.length - 1; place += 2) {
      if (isTruthy(this.value(values[place], data))) {
        return this.value(values[place + 1], data);
      }
    }
    return values.length % 2 ? this.value(values.at(-1), data) : null;
  }

  /** The first value that decides, or the last one. */
  join(values: unknown[], data: unknown, decisive: boolean): unknown {
    let result: unknown = !decisive;
    for (const one of values) {
      result = this.value(one, data);
      if (isTruthy(result) === decisive) {
        break;
      }
    }
    return result;
  }

  items(argument: unknown, data: unknown): unknown[] {
    const found = this.value(argument, data);
    return Array.isArray(found) ? found : [];
  }

  tests([items, test]: unknown[], data: unknown): boolean[] {
    return this.items(items, data).map((item) => isTruthy(this.value(test, item)));
  }

  reduce([items, step, start]: unknown[], data: unknown): unknown {
    let result = start === undefined ? null : this.value(start, data);
    for (const item of this.items(items, data)) {
      result = this.value(step, { current: item, accumulator: result });
    }
    return result;
  }

  #charge(work: number): void {
    this.#work -= work;
    if (this.#work < 0) {
      throw new WorkLimitExceeded();
    }
  }
}

function findNamed(data: unknown, path: unknown): unknown {
  if (typeof path === "object" && path !== null) {
    return undefined;
  }
  const text = path === null ? "None" : typeof path === "boolean" ? (path ? "True" : "False") : String(path);
  return text.length <= MAX_PATH ? findValue(data, text) : undefined;
}

/** The work of reading a value whole. */
function measure(value: unknown): number {
  if (typeof value === "string") {
    return value.length >> 6;
  }
  const items = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  return items.length + items.reduce<number>((sum, item) => sum + measure(item), 0);
}

type Lazy = (evaluation: Evaluation, values: unknown[], data: unknown) => unknown;

/** Operators that evaluate their own arguments, some of them over other data. */
const LAZY: Record<string, Lazy> = {
  var: (evaluation, values, data) => evaluation.variable(values, data),
  missing: (evaluation, values, data) => evaluation.missing(values, data),
  missing_some: (evaluation, values, data) => evaluation.missingSome(values, data),
  if: (evaluation, values, data) => evaluation.choose(values, data),
  "?:": (evaluation, values, data) => evaluation.choose(values, data),
  and: (evaluation, values, data) => evaluation.join(values, data, false),
  or: (evaluation, values, data) => evaluation.join(values, data, true),
  map: (evaluation, [items, step], data) => evaluation.items(items, data).map((item) => evaluation.value(step, item)),
  filter: (evaluation, [items, test], data) =>
    evaluation.items(items, data).filter((item) => isTruthy(evaluation.value(test, item))),
  reduce: (evaluation, values, data) => evaluation.reduce(values, data),
  all: (evaluation, values, data) => {
    const found = evaluation.tests(values, data);
    return found.length > 0 && found.every(Boolean);
  },
  some: (evaluation, values, data) => evaluation.tests(values, data).some(Boolean),
  none: (evaluation, values, data) => !evaluation.tests(values, data).some(Boolean),
};

const BOUNDS: Record<string, readonly [number, number]> = {
  map: [2, 2],
  filter: [2, 2],
  all: [2, 2],
  some: [2, 2],
  none: [2, 2],
  missing_some: [2, 2],
  and: [1, MANY],
  or: [1, MANY],
  if: [1, MANY],
  missing: [0, MANY],
  reduce: [2, 3],
  var: [0, 2],
  "?:": [3, 3],
};

/** How many values an operator takes; none for one that does not exist. */
function boundsOf(operator: string): readonly [number, number] {
  if (Object.hasOwn(BOUNDS, operator)) {
    return BOUNDS[operator] as readonly [number, number];
  }
  if (Object.hasOwn(DATE_OPERATORS, operator)) {
    return [2, 2];
  }
  const known = Object.hasOwn(OPERATIONS, operator) ? OPERATIONS[operator] : undefined;
  return known ? [known[0], known[1]] : [1, 0];
}
