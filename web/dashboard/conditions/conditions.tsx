import { useMemo, useState } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { JsonField } from "../schema-form/json-field.tsx";
import { texts } from "../texts/conditions.ts";
import type { Builder } from "./builder.ts";
import { filterDialect } from "./filter-model.ts";
import { GroupBox } from "./group.tsx";
import { logicDialect } from "./logic-model.ts";
import { blankGroup, type Group } from "./model.ts";
import { resultOfAll } from "./results.ts";
import { Verdict } from "./rule-result.tsx";

export type ConditionsProps = {
  /** `filters`: groups of rules of steps, variants and integrations; `logic`: the JSON Logic of a step's `skip`. */
  kind: "filters" | "logic";
  label: string;
  value: unknown;
  /** Without any rule, filters are an empty list, and logic is undefined. */
  onValue: (value: unknown) => void;
  /** The JSON Schema of the variables in scope. */
  variables?: Record<string, unknown>;
  /** The values of the chosen person and payload, to show the result beside each rule. */
  sample?: Record<string, unknown> | undefined;
  problem?: string | undefined;
  disabled?: boolean;
  /** Integrations have no earlier steps to ask about. */
  isIntegration?: boolean;
};

/** Conditions as rules in words, with the result for a person; what cannot be shown is edited as JSON. */
export default function Conditions(props: ConditionsProps) {
  const { kind, label, value, onValue, variables, problem, disabled = false, isIntegration = false } = props;
  const [isJson, setJson] = useState(false);
  const dialect = useMemo(
    () => (kind === "logic" ? logicDialect : filterDialect(isIntegration)),
    [kind, isIntegration],
  );
  const sample = useMemo(() => props.sample && { values: props.sample, now: Date.now() }, [props.sample]);
  const builder: Builder = { dialect, isLogic: kind === "logic", variables, sample, isDisabled: disabled };
  const groups = dialect.read(value);
  return (
    <fieldset class="conditions">
      <legend>{label}</legend>
      <div class="conditions-body">
        {isJson ? (
          <JsonField
            label={texts.json(label)}
            value={value}
            rows={8}
            onValue={(next) => onValue(next ?? dialect.write([]))}
            disabled={disabled}
          />
        ) : (
          <Groups builder={builder} groups={groups} onGroups={(next) => onValue(dialect.write(next))} />
        )}
        {problem && <p class="field-problem">{problem}</p>}
        <div class="row spread">
          {sample && groups.length > 0 ? <Summary builder={builder} groups={groups} /> : <span />}
          <Button kind="quiet" onClick={() => setJson(!isJson)}>
            {isJson ? texts.asRules : texts.asJson}
          </Button>
        </div>
      </div>
    </fieldset>
  );
}

type GroupsProps = { builder: Builder; groups: readonly Group[]; onGroups: (groups: readonly Group[]) => void };

function Groups({ builder, groups, onGroups }: GroupsProps) {
  const { dialect, isDisabled } = builder;
  const add = () => onGroups([...groups, blankGroup(dialect)]);
  if (groups.length === 0) {
    return (
      <div class="row">
        <span class="quiet">{texts.always}</span>
        {!isDisabled && <Button onClick={add}>{texts.addFirst}</Button>}
      </div>
    );
  }
  return (
    // The builder is disabled as a whole: its fields are the browser's own.
    <fieldset class="conditions conditions-body" disabled={isDisabled}>
      {groups.map((group, place) => (
        <div key={place} class="conditions-body">
          {place > 0 && <span class="conditions-or">{texts.or}</span>}
          <GroupBox
            builder={builder}
            group={group}
            number={place + 1}
            onNode={(node) =>
              onGroups(groups.flatMap((one, index) => (index === place ? (node === null ? [] : [node]) : [one])))
            }
          />
        </div>
      ))}
      {dialect.canHaveSeveral && !isDisabled && (
        <div class="row">
          <Button kind="quiet" onClick={add}>
            {texts.addAlternative}
          </Button>
        </div>
      )}
    </fieldset>
  );
}

function Summary({ builder, groups }: { builder: Builder; groups: readonly Group[] }) {
  return builder.sample ? (
    <span class="row small">
      <span class="quiet">{texts.forPerson}</span>
      <Verdict isPassed={resultOfAll(groups, builder.isLogic, builder.sample)} />
    </span>
  ) : null;
}
