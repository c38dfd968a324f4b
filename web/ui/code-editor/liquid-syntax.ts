/** Reads the expressions of Liquid, and finds faults as the service does. */
import { texts } from "./texts.ts";

export type Fault = { from: number; to: number; message: string };

/** A variable such as `payload.items[0].name`; null stands for an index that is computed. */
export type Reference = { path: (string | null)[]; from: number; to: number };

type Token = { type: "word" | "text" | "number" | "sign" | "end"; text: string; from: number; to: number };

const TOKEN =
  /\s+|("[^"]*"|'[^']*')|(-?\d+(?:\.\d+)?)|([A-Za-z_\u0080-\uffff][\w\u0080-\uffff-]*\??)|(\.\.|[=!<>]=|<>|[=<>.,:|[\]()])/y;
const CONSTANTS = ["true", "false", "nil", "null", "empty", "blank"];
const COMPARISONS = ["==", "!=", "<>", "<", ">", "<=", ">=", "contains"];

/** Reads one expression; the first fault ends it. */
export class Expression {
  readonly references: Reference[] = [];
  readonly filters: { name: string; from: number; to: number }[] = [];
  fault: Fault | null = null;
  #tokens: Token[] = [];
  #at = 0;

  constructor(text: string, from: number) {
    this.#split(text, from);
  }

  /** `value | filter: value, name: value | …`, as written in `{{ }}`. Returns the path of a value without filters. */
  readOutput(): Reference | null {
    const value = this.#value();
    while (this.fault === null && this.#takes("|")) {
      this.#filter();
    }
    this.#expectEnd();
    return this.filters.length === 0 ? value : null;
  }

  /** `value == value and value`. */
  readCondition(): void {
    do {
      if (this.#now.text === "not" || this.#now.text === "(") {
        this.#fail(this.#now, this.#now.text === "not" ? texts.noNot : texts.noParentheses);
        return;
      }
      this.#value();
      if (COMPARISONS.includes(this.#now.text)) {
        this.#at += 1;
        this.#value();
      }
    } while (this.fault === null && (this.#takes("and") || this.#takes("or")));
    this.#expectEnd();
  }

  /** `value, value or value`. */
  readChoices(): void {
    do {
      this.#value();
    } while (this.fault === null && (this.#takes(",") || this.#takes("or")));
    this.#expectEnd();
  }

  /** `item in list limit: 2 reversed`. */
  readLoop(): { name: string; list: Reference | null } {
    const name = this.#word(texts.itemName);
    this.#expect("in");
    const list = this.#value();
    while (this.fault === null && this.#now.type !== "end") {
      this.#takes(",");
      this.#word(texts.option);
      if (this.#takes(":")) {
        this.#value();
      }
    }
    return { name, list };
  }

  /** `name = value | filter`. */
  readAssignment(): { name: string; value: Reference | null } {
    const name = this.#word(texts.name);
    this.#expect("=");
    return { name, value: this.fault === null ? this.readOutput() : null };
  }

  readName(): string {
    const name = this.#word(texts.name);
    this.#expectEnd();
    return name;
  }

  get #now(): Token {
    return this.#tokens[this.#at] as Token;
  }

  #split(text: string, from: number): void {
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < text.length) {
      const start = TOKEN.lastIndex;
      const found = TOKEN.exec(text);
      if (found === null) {
        this.#fail({ from: from + start, to: from + start + 1 }, texts.unexpected(text[start] as string));
        break;
      }
      const type = found[1] ? "text" : found[2] ? "number" : found[3] ? "word" : found[4] ? "sign" : null;
      if (type) {
        this.#tokens.push({ type, text: found[0], from: from + start, to: from + TOKEN.lastIndex });
      }
    }
    const end = from + text.trimEnd().length;
    this.#tokens.push({ type: "end", text: "", from: Math.max(from, end - 1), to: Math.max(end, from) });
  }

  #value(): Reference | null {
    const token = this.#now;
    if (this.fault !== null) {
      return null;
    }
    if (token.text === "(") {
      this.#at += 1;
      this.#value();
      this.#expect("..");
      this.#value();
      this.#expect(")");
      return null;
    }
    this.#at += 1;
    if (token.type === "text" || token.type === "number") {
      return null;
    }
    if (token.type !== "word") {
      this.#at -= 1;
      this.#fail(token, token.type === "end" ? texts.missing(texts.value) : texts.valueInstead(token.text));
      return null;
    }
    return this.#path(token);
  }

  #path(first: Token): Reference | null {
    const path: (string | null)[] = [first.text];
    let to = first.to;
    for (;;) {
      if (this.#takes(".")) {
        to = this.#now.to;
        path.push(this.#word(texts.name));
      } else if (this.#takes("[")) {
        path.push(this.#index());
        to = this.#now.to;
        this.#expect("]");
      } else {
        break;
      }
      if (this.fault !== null) {
        return null;
      }
    }
    if (path.length === 1 && CONSTANTS.includes(first.text)) {
      return null;
    }
    const reference = { path, from: first.from, to };
    this.references.push(reference);
    return reference;
  }

  #index(): string | null {
    const token = this.#now;
    if (token.type === "number" || token.type === "text") {
      this.#at += 1;
      return token.type === "text" ? token.text.slice(1, -1) : token.text;
    }
    this.#value();
    return null;
  }

  #filter(): void {
    const token = this.#now;
    const name = this.#word(texts.filterName);
    if (this.fault !== null) {
      return;
    }
    this.filters.push({ name, from: token.from, to: token.to });
    if (!this.#takes(":") || this.#now.type === "end" || this.#now.text === "|") {
      return;
    }
    do {
      if (this.#now.type === "word" && this.#tokens[this.#at + 1]?.text === ":") {
        this.#at += 2;
      }
      this.#value();
    } while (this.fault === null && this.#takes(","));
  }

  #word(what: string): string {
    const token = this.#now;
    if (token.type !== "word") {
      this.#fail(token, texts.missing(what));
      return "";
    }
    this.#at += 1;
    return token.text;
  }

  #takes(text: string): boolean {
    if (this.#now.type !== "text" && this.#now.text === text && this.#now.type !== "end") {
      this.#at += 1;
      return true;
    }
    return false;
  }

  #expect(text: string): void {
    if (!this.#takes(text)) {
      this.#fail(this.#now, texts.missing(text));
    }
  }

  #expectEnd(): void {
    if (this.#now.type !== "end") {
      this.#fail(this.#now, texts.unexpected(this.#now.text));
    }
  }

  #fail({ from, to }: { from: number; to: number }, message: string): void {
    this.fault ??= { from, to: Math.max(to, from + 1), message };
  }
}
