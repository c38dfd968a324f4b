/** Conditions as the builder shows them: rules in groups; what it cannot show stays as it is. */

/** What a rule asks about; `variable` is any variable of JSON Logic. */
export type Subject = "variable" | "payload" | "subscriber" | "previousStep" | "isOnline" | "isOnlineInLast";

/** How the value of an operator is written. */
export type ValueKind = "none" | "text" | "list" | "range" | "span";

export type Span = { amount: string; unit: string };
export const SPAN_UNITS: readonly string[] = ["minutes", "hours", "days", "weeks", "months", "years"];

export type RuleValue = string | readonly [string, string] | Span;

export type Rule = {
  kind: "rule";
  subject: Subject;
  field: string;
  operator: string;
  value: RuleValue;
  /** As it is stored. */
  json: unknown;
};

export type Raw = { kind: "raw"; json: unknown };

export type Join = "and" | "or";

export type Group = {
  kind: "group";
  join: Join;
  isNegated: boolean;
  children: readonly Node[];
  json: unknown;
};

export type Node = Rule | Raw | Group;

export type Operator = { name: string; value: ValueKind };

/** One of the two ways to write conditions. */
export type Dialect = {
  subjects: readonly Subject[];
  operatorsOf: (subject: Subject) => readonly Operator[];
  /** The groups of which one has to pass. */
  read: (value: unknown) => readonly Group[];
  write: (groups: readonly Group[]) => unknown;
  /** The stored form of a rule; `type` is that of its field, if it is known. */
  writeRule: (rule: Rule, type: string) => unknown;
  canHaveSeveral: boolean;
};

export function kindOf(dialect: Dialect, rule: Pick<Rule, "subject" | "operator">): ValueKind {
  return dialect.operatorsOf(rule.subject).find((one) => one.name === rule.operator)?.value ?? "text";
}

/** The value in the form of another kind, as far as it can be kept. */
export function fitValue(value: RuleValue, kind: ValueKind): RuleValue {
  if (kind === "range") {
    return Array.isArray(value) ? value : [textOfValue(value), ""];
  }
  if (kind === "span") {
    return isSpan(value)
      ? value
      : { amount: /^\d+(\.\d+)?$/.test(textOfValue(value)) ? textOfValue(value) : "1", unit: "days" };
  }
  return kind === "none" ? "" : textOfValue(value);
}

export function isSpan(value: RuleValue): value is Span {
  return typeof value === "object" && "unit" in value;
}

export function textOfValue(value: RuleValue): string {
  return typeof value === "string" ? value : isSpan(value) ? value.amount : value.filter(Boolean).join(", ");
}

/** A rule after an edit: other subjects and operators may not have what it had. */
export function changeRule(dialect: Dialect, rule: Rule, changes: Partial<Rule>, type: string): Rule {
  const changed = { ...rule, ...changes };
  const operators = dialect.operatorsOf(changed.subject);
  if (!operators.some((one) => one.name === changed.operator)) {
    changed.operator = operators[0]?.name ?? "";
  }
  changed.value = fitValue(changed.value, kindOf(dialect, changed));
  return { ...changed, json: dialect.writeRule(changed, type) };
}

export function blankRule(dialect: Dialect): Rule {
  const subject = dialect.subjects[0] as Subject;
  const blank: Rule = { kind: "rule", subject, field: "", operator: "", value: "", json: null };
  return changeRule(dialect, blank, {}, "");
}

export function blankGroup(dialect: Dialect): Group {
  return { kind: "group", join: "and", isNegated: false, children: [blankRule(dialect)], json: {} };
}

/** A group with one child in another place's stead; null takes it away. */
export function replaceChild(group: Group, place: number, child: Node | null): Group {
  const children = group.children.flatMap((one, index) => (index === place ? (child === null ? [] : [child]) : [one]));
  return { ...group, children };
}
