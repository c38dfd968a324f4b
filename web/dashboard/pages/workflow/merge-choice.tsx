import { useId } from "preact/hooks";
import { Status } from "../../../ui/status.tsx";
import { texts } from "../../texts/editor.ts";
import { isObject } from "../../values.ts";
import type { Difference, Side } from "./merge.ts";

type MergeChoiceProps = {
  difference: Difference;
  title: string;
  /** The name of a step by its key. */
  nameOf: (key: string) => string;
  choice: Side | undefined;
  onChoice: (side: Side) => void;
};

/** One change, as it was and as both have it now. */
export function MergeChoice({ difference, title, nameOf, choice, onChoice }: MergeChoiceProps) {
  const name = useId();
  const show = (value: unknown) => textOf(difference, value, nameOf);
  return (
    <fieldset class="schema-group">
      <legend>
        <bdi>{title}</bdi>
      </legend>
      <ChangedBy who={difference.changedBy} />
      {difference.base !== undefined && (
        <div class="small">
          <span class="quiet">{texts.before}: </span>
          <code>{show(difference.base)}</code>
        </div>
      )}
      <div class="editor-pair">
        {(["theirs", "mine"] as const).map((side) => (
          <label key={side} class="editor-side-choice">
            <span class="row">
              <input
                type="radio"
                name={name}
                checked={choice === side}
                onChange={() => onChoice(side)}
                aria-label={`${texts[side]}: ${title}`}
              />
              {texts[side]}
            </span>
            <code>{show(difference[side])}</code>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function ChangedBy({ who }: { who: Difference["changedBy"] }) {
  if (who === "both") {
    return <Status tone="warn">{texts.bothChanged}</Status>;
  }
  return <Status tone="plain">{who === "mine" ? texts.onlyMine : texts.onlyTheirs}</Status>;
}

function textOf({ field }: Difference, value: unknown, nameOf: (key: string) => string): string {
  if (value === undefined || value === null) {
    return field === "step" ? texts.gone : texts.absent;
  }
  if (field === "order" && Array.isArray(value)) {
    return value.map((key) => nameOf(String(key))).join(" → ");
  }
  if (field === "step" && isObject(value)) {
    return JSON.stringify(value.controlValues, null, 2);
  }
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
