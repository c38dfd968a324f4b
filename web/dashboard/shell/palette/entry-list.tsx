import { useEffect, useRef } from "preact/hooks";
import { texts } from "../../texts/palette.ts";
import type { Entry } from "./entries.ts";

type EntryListProps = { entries: readonly Entry[]; chosen: Entry | undefined; onChoose: (entry: Entry) => void };

/** The entries by group; the field above has the focus and names the chosen one. */
export function EntryList({ entries, chosen, onChoose }: EntryListProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [chosen?.id]);
  const groups = [...new Set(entries.map((entry) => entry.group))];
  return (
    <div ref={list} id="palette-list" class="palette-list" role="listbox" aria-label={texts.title}>
      {groups.map((group) => (
        // biome-ignore lint/a11y/useSemanticElements: a group of options, not of fields
        <div key={group} role="group" aria-labelledby={`palette-${group}`}>
          <p id={`palette-${group}`} class="palette-group" role="presentation">
            {texts.groups[group]}
          </p>
          {entries
            .filter((entry) => entry.group === group)
            .map((entry) => (
              <Option key={entry.id} entry={entry} isChosen={entry === chosen} onChoose={onChoose} />
            ))}
        </div>
      ))}
    </div>
  );
}

type OptionProps = { entry: Entry; isChosen: boolean; onChoose: (entry: Entry) => void };

function Option({ entry, isChosen, onChoose }: OptionProps) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus, and names the chosen one
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
    <div id={entry.id} class="palette-entry" role="option" aria-selected={isChosen} onClick={() => onChoose(entry)}>
      <span class="palette-title">
        <bdi>{entry.title}</bdi>
        {entry.detail && (
          <span class="small quiet">
            <bdi>{entry.detail}</bdi>
          </span>
        )}
      </span>
      <span class="small quiet">{entry.kind}</span>
    </div>
  );
}
