/** Finds faults in templates while they are typed: syntax, tags that are not closed, filters and variables that do not exist. */
import { listMarkup, type Markup } from "./liquid-markup.ts";
import { Expression, type Reference } from "./liquid-syntax.ts";
import { FILTERS, TAGS } from "./liquid-words.ts";
import { texts } from "./texts.ts";
import { findShape, itemOf, type Schema, type Scope, type Shape } from "./variables.ts";

export type Remark = { from: number; to: number; severity: "error" | "warning"; message: string };

type Block = { markup: Markup; names: string[] };

const LOOP_NAMES: Record<string, string> = { for: "forloop", tablerow: "tablerowloop" };

/** Everything that is wrong with a template; variables are checked only with the schema of those in scope. */
export function checkLiquid(text: string, variables?: Schema): Remark[] {
  const reader = new Reader(text, variables);
  for (const markup of listMarkup(text)) {
    reader.read(markup);
  }
  reader.close();
  return reader.remarks.sort((first, second) => first.from - second.from);
}

/** The names that a text can use at a position. */
export function scopeAt(text: string, position: number, variables: Schema): Scope {
  const reader = new Reader(text, variables);
  for (const markup of listMarkup(text)) {
    if (markup.to > position) {
      break;
    }
    reader.read(markup);
  }
  return reader.scope;
}

/** The blocks that are open at a position, from the outermost. */
export function openBlocksAt(text: string, position: number): string[] {
  const reader = new Reader(text, undefined);
  for (const markup of listMarkup(text)) {
    if (markup.to > position) {
      break;
    }
    reader.read(markup);
  }
  return reader.openBlocks;
}

class Reader {
  readonly remarks: Remark[] = [];
  readonly #text: string;
  readonly #variables: Schema | undefined;
  readonly #blocks: Block[] = [];
  readonly #locals = new Map<string, Shape>();

  constructor(text: string, variables: Schema | undefined) {
    this.#text = text;
    this.#variables = variables;
  }

  get scope(): Scope {
    return { root: this.#variables ?? {}, locals: this.#locals };
  }

  get openBlocks(): string[] {
    return this.#blocks.map((block) => block.markup.name);
  }

  read(markup: Markup): void {
    if (!markup.isClosed) {
      const line = this.#text.indexOf("\n", markup.from);
      const to = line < 0 ? markup.to : Math.min(line, markup.to);
      this.#error({ from: markup.from, to }, texts.missing(markup.kind === "output" ? "}}" : "%}"));
    } else if (markup.kind === "output") {
      const expression = new Expression(markup.inner, markup.innerFrom);
      expression.readOutput();
      this.#judge(expression);
    } else {
      this.#readTag(markup);
    }
  }

  /** Says which blocks have no end. */
  close(): void {
    for (const { markup } of this.#blocks) {
      this.#error(markup, texts.noEnd(markup.name));
    }
  }

  #readTag(markup: Markup): void {
    const { name } = markup;
    const block = this.#blocks.at(-1);
    if (name === "") {
      this.#error(markup, texts.missing(texts.tagName));
    } else if (name.startsWith("end") && name.slice(3) in TAGS) {
      this.#end(markup, name.slice(3));
    } else if (block && TAGS[block.markup.name]?.parts?.includes(name)) {
      this.#readInside(markup);
    } else if (!(name in TAGS)) {
      this.#error(markup, texts.unknownTag(name, nearest(name, Object.keys(TAGS))));
    } else {
      this.#begin(markup);
    }
  }

  #begin(markup: Markup): void {
    const names = markup.name === "liquid" ? [] : this.#readInside(markup);
    if (TAGS[markup.name]?.isBlock) {
      this.#blocks.push({ markup, names });
    }
  }

  #end(markup: Markup, name: string): void {
    const block = this.#blocks.at(-1);
    if (block?.markup.name !== name) {
      const message = block ? texts.endExpected(block.markup.name) : texts.noBegin(name);
      this.#error(markup, message);
      return;
    }
    if (markup.inner.trim() !== "") {
      this.#error(markup, texts.behindEnd(name));
    }
    this.#blocks.pop();
    for (const one of block.names) {
      this.#locals.delete(one);
    }
  }

  /** Reads what stands behind the name of a tag; returns the names that its block has. */
  #readInside({ name, inner, innerFrom }: Markup): string[] {
    const expression = new Expression(name === "#" ? "" : inner, innerFrom);
    let made: string[] = [];
    if (name === "if" || name === "unless" || name === "elsif") {
      expression.readCondition();
    } else if (name === "case" || name === "echo") {
      expression.readOutput();
    } else if (name === "when" || name === "cycle") {
      // `cycle` may have a group before its values, which is not worth a rule of its own.
      if (name === "when") {
        expression.readChoices();
      }
    } else if (name === "assign") {
      const { name: made, value } = expression.readAssignment();
      this.#keep(made, value === null ? null : this.#shapeOf(value));
    } else if (name === "capture") {
      this.#keep(expression.readName(), { type: "string" });
    } else if (name === "increment" || name === "decrement") {
      this.#keep(expression.readName(), { type: "integer" });
    } else if (name === "for" || name === "tablerow") {
      made = this.#readLoop(name, expression);
    }
    this.#judge(expression, made);
    return made;
  }

  #readLoop(tag: string, expression: Expression): string[] {
    const { name, list } = expression.readLoop();
    if (expression.fault !== null) {
      return [];
    }
    const loop = LOOP_NAMES[tag] as string;
    this.#judgeReferences(expression.references);
    this.#keep(name, list === null ? null : itemOf(this.#shapeOf(list), this.scope.root));
    this.#keep(loop, null);
    return [name, loop];
  }

  #keep(name: string, shape: Shape): void {
    if (name !== "") {
      this.#locals.set(name, shape);
    }
  }

  #shapeOf(reference: Reference): Shape {
    return findShape(reference.path, this.scope) ?? null;
  }

  #judge(expression: Expression, made: readonly string[] = []): void {
    if (expression.fault !== null) {
      this.remarks.push({ ...expression.fault, severity: "error" });
      return;
    }
    for (const filter of expression.filters) {
      if (!Object.hasOwn(FILTERS, filter.name)) {
        this.#error(filter, texts.unknownFilter(filter.name, nearest(filter.name, Object.keys(FILTERS))));
      }
    }
    if (made.length === 0) {
      this.#judgeReferences(expression.references);
    }
  }

  #judgeReferences(references: readonly Reference[]): void {
    if (this.#variables === undefined) {
      return;
    }
    for (const reference of references) {
      if (findShape(reference.path, this.scope) === undefined) {
        const name = reference.path.map((one) => one ?? "…").join(".");
        const { from, to } = reference;
        this.remarks.push({ from, to, severity: "warning", message: texts.unknownVariable(name) });
      }
    }
  }

  #error({ from, to }: { from: number; to: number }, message: string): void {
    this.remarks.push({ from, to, severity: "error", message });
  }
}

/** A known word that differs in at most two letters. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const scored = known.map((one) => [distance(word.toLowerCase(), one.toLowerCase()), one] as const);
  const [best] = scored.sort(([first], [second]) => first - second);
  return best && best[0] <= Math.min(2, Math.ceil(word.length / 3)) ? best[1] : undefined;
}

function distance(first: string, second: string): number {
  let before = Array.from({ length: second.length + 1 }, (_, place) => place);
  for (let row = 1; row <= first.length; row += 1) {
    const now = [row];
    for (let column = 1; column <= second.length; column += 1) {
      const cost = first[row - 1] === second[column - 1] ? 0 : 1;
      now.push(
        Math.min(
          (before[column] as number) + 1,
          (now[column - 1] as number) + 1,
          (before[column - 1] as number) + cost,
        ),
      );
    }
    before = now;
  }
  return before[second.length] as number;
}
