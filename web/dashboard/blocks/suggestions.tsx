import { useEffect, useRef } from "preact/hooks";
import { texts } from "../texts/blocks.ts";
import type { Offer } from "./query.ts";

type SuggestionsProps = {
  id: string;
  offers: readonly Offer[];
  chosen: number;
  left: number;
  top: number;
  onChoose: (index: number) => void;
};

/** The list under the cursor; the focus stays in the document. */
export function Suggestions({ id, offers, chosen, left, top, onChoose }: SuggestionsProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: "nearest" });
  }, [chosen, offers]);
  return (
    <div
      ref={list}
      id={id}
      class="blocks-suggestions"
      role="listbox"
      aria-label={texts.suggestions}
      style={{ left, top }}
    >
      {offers.map((offer, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the document has the focus and takes the keys
        // biome-ignore lint/a11y/useFocusableInteractive: the document has the focus and takes the keys
        <div
          key={offer.id}
          id={`${id}-${index}`}
          role="option"
          class="blocks-suggestion"
          aria-selected={index === chosen}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(index)}
        >
          <bdi>{offer.label}</bdi> <span class="small quiet">{offer.detail}</span>
        </div>
      ))}
    </div>
  );
}
