import { Button } from "../../ui/button.tsx";
import { Combobox } from "../../ui/combobox.tsx";
import { SelectField } from "../../ui/field.tsx";
import { JsonField } from "../schema-form/json-field.tsx";
import { texts } from "../texts/conditions.ts";
import type { Builder } from "./builder.ts";
import { fieldType, listFields, suggestFields } from "./fields.ts";
import { changeRule, kindOf, type Node, type Raw, type Rule } from "./model.ts";
import { RuleResult } from "./rule-result.tsx";
import { ValueField } from "./value-field.tsx";

type RuleRowProps = {
  builder: Builder;
  rule: Rule | Raw;
  number: number;
  onNode: (node: Node | null) => void;
};

/** One rule: what it asks about, how it compares, with what, and what comes of it for the chosen person. */
export function RuleRow({ builder, rule, number, onNode }: RuleRowProps) {
  return (
    <li class="conditions-rule" aria-label={texts.rule(number)}>
      {rule.kind === "raw" ? (
        <JsonField
          label={texts.ruleJson}
          value={rule.json}
          rows={3}
          onValue={(json) => onNode({ kind: "raw", json: json ?? null })}
          disabled={builder.isDisabled}
        />
      ) : (
        <RuleControls builder={builder} rule={rule} onNode={onNode} />
      )}
      {!builder.isDisabled && (
        <Button kind="quiet" aria-label={texts.removeRule(number)} onClick={() => onNode(null)}>
          ✕
        </Button>
      )}
      <RuleResult builder={builder} node={rule} />
    </li>
  );
}

type RuleControlsProps = { builder: Builder; rule: Rule; onNode: (node: Node) => void };

function RuleControls({ builder, rule, onNode }: RuleControlsProps) {
  const { dialect, variables } = builder;
  const fields = listFields(variables, rule.subject);
  const type = fieldType(variables, rule.subject, rule.field);
  const hasField = rule.subject !== "isOnline" && rule.subject !== "isOnlineInLast";
  const operators = dialect.operatorsOf(rule.subject);
  function change(changes: Partial<Rule>) {
    const field = changes.field ?? rule.field;
    onNode(changeRule(dialect, rule, changes, fieldType(variables, changes.subject ?? rule.subject, field)));
  }
  return (
    <div class="conditions-controls">
      {dialect.subjects.length > 1 && (
        <SelectField
          label={texts.subject}
          value={rule.subject}
          options={dialect.subjects.map((one) => ({ value: one, label: texts.subjects[one] }))}
          onValue={(subject) => change({ subject: subject as Rule["subject"], field: "" })}
        />
      )}
      {hasField && (
        <Combobox
          label={rule.subject === "previousStep" ? texts.step : texts.field}
          value={rule.field}
          onValue={(field) => change({ field: field.trim() })}
          placeholder={rule.subject === "previousStep" ? texts.step : texts.field}
          suggest={async (text) => suggestFields(fields, text)}
        />
      )}
      {operators.length > 1 && (
        <SelectField
          label={texts.operator}
          value={rule.operator}
          options={operators.map((one) => ({ value: one.name, label: texts.operators[one.name] ?? one.name }))}
          onValue={(operator) => change({ operator })}
        />
      )}
      <ValueField rule={rule} kind={kindOf(dialect, rule)} type={type} onValue={(value) => change({ value })} />
    </div>
  );
}
