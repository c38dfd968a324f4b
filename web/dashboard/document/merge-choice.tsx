import { useId } from "preact/hooks";
import { Status } from "../../ui/status.tsx";
import { texts } from "../texts/document.ts";
import type { Difference, Side } from "./merge.ts";

type MergeChoiceProps = {
  difference: Difference;
  title: string;
  show: (value: unknown) => string;
  choice: Side | undefined;
  onChoice: (side: Side) => void;
};

/** One change, as it was and as both have it now. */
export function MergeChoice({ difference, title, show, choice, onChoice }: MergeChoiceProps) {
  const name = useId();
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
      <div class="document-pair">
        {(["theirs", "mine"] as const).map((side) => (
          <label key={side} class="document-side-choice">
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

/** A value of a document as text. */
export function textOfValue(value: unknown): string {
  if (value === undefined || value === null) {
    return texts.absent;
  }
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
