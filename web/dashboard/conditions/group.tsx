import { useRef } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { SelectField } from "../../ui/field.tsx";
import { texts } from "../texts/conditions.ts";
import type { Builder } from "./builder.ts";
import { blankGroup, blankRule, type Group, type Join, type Node, replaceChild } from "./model.ts";
import { RuleResult } from "./rule-result.tsx";
import { RuleRow } from "./rule-row.tsx";

type GroupBoxProps = {
  builder: Builder;
  group: Group;
  number: number;
  depth?: number;
  onNode: (group: Group | null) => void;
};

const MAX_DEPTH = 9;
const JOINS: { value: string; join: Join; isNegated: boolean; label: string }[] = [
  { value: "and", join: "and", isNegated: false, label: texts.joins.and },
  { value: "or", join: "or", isNegated: false, label: texts.joins.or },
  { value: "notAnd", join: "and", isNegated: true, label: texts.joins.notAnd },
  { value: "notOr", join: "or", isNegated: true, label: texts.joins.notOr },
];

/** Rules that are joined, and groups of them; by keyboard, a new rule gets the focus. */
export function GroupBox({ builder, group, number, depth = 0, onNode }: GroupBoxProps) {
  const box = useRef<HTMLFieldSetElement>(null);
  const chosen = JOINS.find((one) => one.join === group.join && one.isNegated === group.isNegated);

  function add(node: Node) {
    onNode({ ...group, children: [...group.children, node] });
    requestAnimationFrame(() => focusLast(box.current));
  }
  function change(place: number, child: Node | null) {
    const changed = replaceChild(group, place, child);
    onNode(changed.children.length === 0 ? null : changed);
    if (child === null) {
      requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(":scope > .conditions-add button")?.focus());
    }
  }

  return (
    <fieldset ref={box} class="conditions-group">
      <legend class="visually-hidden">{texts.group(number)}</legend>
      <div class="conditions-head">
        <SelectField
          label={texts.join}
          value={chosen?.value ?? "and"}
          options={JOINS}
          onValue={(value) => {
            const { join, isNegated } = JOINS.find((one) => one.value === value) ?? { join: "and", isNegated: false };
            onNode({ ...group, join, isNegated });
          }}
        />
        <RuleResult builder={builder} node={group} />
        {!builder.isDisabled && (
          <Button kind="quiet" aria-label={texts.removeGroup} onClick={() => onNode(null)}>
            ✕
          </Button>
        )}
      </div>
      <ol class="conditions-rules">
        {group.children.map((child, place) =>
          child.kind === "group" ? (
            <li key={place}>
              <GroupBox
                builder={builder}
                group={child}
                number={place + 1}
                depth={depth + 1}
                onNode={(node) => change(place, node)}
              />
            </li>
          ) : (
            <RuleRow
              key={place}
              builder={builder}
              rule={child}
              number={place + 1}
              onNode={(node) => change(place, node)}
            />
          ),
        )}
      </ol>
      {!builder.isDisabled && (
        <div class="row conditions-add">
          <Button onClick={() => add(blankRule(builder.dialect))}>{texts.addRule}</Button>
          {depth < MAX_DEPTH && (
            <Button kind="quiet" onClick={() => add(blankGroup(builder.dialect))}>
              {texts.addGroup}
            </Button>
          )}
        </div>
      )}
    </fieldset>
  );
}

function focusLast(box: HTMLElement | null): void {
  const last = box?.querySelector<HTMLElement>(":scope > ol > li:last-child");
  last?.querySelector<HTMLElement>("select, input")?.focus();
}
