/** A condition in words, for where it is only read. */
import { texts } from "../texts/conditions.ts";
import { logicDialect } from "./logic-model.ts";
import type { Node, RuleValue } from "./model.ts";
import { isSpan } from "./model.ts";

/** Undefined if there is no condition. */
export function describeLogic(value: unknown): string | undefined {
  const [group] = logicDialect.read(value);
  return group && describeNode(group);
}

function describeNode(node: Node): string {
  if (node.kind === "raw") {
    return JSON.stringify(node.json);
  }
  if (node.kind === "rule") {
    return [node.field, texts.operators[node.operator] ?? node.operator, describeValue(node.value)]
      .filter(Boolean)
      .join(" ");
  }
  const parts = node.children.map((one) =>
    one.kind === "group" && one.children.length > 1 ? `(${describeNode(one)})` : describeNode(one),
  );
  const joined = parts.join(` ${texts.joinWords[node.join]} `);
  return node.isNegated ? texts.not(joined) : joined;
}

function describeValue(value: RuleValue): string {
  if (isSpan(value)) {
    return `${value.amount} ${texts.units[value.unit] ?? value.unit}`;
  }
  return typeof value === "string" ? value : value.join(` ${texts.joinWords.and} `);
}
