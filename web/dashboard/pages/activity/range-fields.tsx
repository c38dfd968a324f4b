import { useState } from "preact/hooks";
import { Button } from "../../../ui/button.tsx";
import { SelectField, TextField } from "../../../ui/field.tsx";
import { fromLocalText, toLocalText } from "../../../ui/formats.ts";
import { texts } from "../../texts/activity.ts";
import { boundsOf, isExact, PRESETS, type Range } from "./range.ts";

const EXACT = "exact";

type RangeChange = { range?: string; after?: string; before?: string };

type RangeFieldsProps = {
  range: Range;
  onRange: (change: RangeChange) => void;
};

/** The time: a preset, or exact moments. */
export function RangeFields({ range, onRange }: RangeFieldsProps) {
  const isFixed = isExact(range);
  const options = [
    ...PRESETS.map((preset) => ({ value: preset as string, label: texts.presets[preset] })),
    { value: EXACT, label: texts.exact },
  ];
  function choose(value: string) {
    if (value === EXACT) {
      onRange({ after: boundsOf(range, Date.now()).after ?? "" });
    } else {
      onRange({ range: value, after: "", before: "" });
    }
  }
  return (
    <>
      <SelectField label={texts.time} value={isFixed ? EXACT : range.preset} options={options} onValue={choose} />
      {isFixed && (
        <>
          <MomentField label={texts.from} value={range.after} onValue={(after) => onRange({ after })} />
          <MomentField label={texts.to} value={range.before} onValue={(before) => onRange({ before })} />
          <Button kind="quiet" onClick={() => onRange({ after: "", before: "" })}>
            {texts.zoomOut(texts.presets[range.preset])}
          </Button>
        </>
      )}
    </>
  );
}

/** A local date and time; it counts when the person has finished with it. */
function MomentField({ label, value, onValue }: { label: string; value: string; onValue: (value: string) => void }) {
  const [text, setText] = useState<string | null>(null);
  function apply() {
    if (text !== null && text !== toLocalText(value)) {
      onValue(fromLocalText(text));
    }
    setText(null);
  }
  return (
    <TextField
      type="datetime-local"
      step={1}
      label={label}
      value={text ?? toLocalText(value)}
      onValue={setText}
      onBlur={apply}
      onKeyDown={(event) => event.key === "Enter" && apply()}
    />
  );
}
