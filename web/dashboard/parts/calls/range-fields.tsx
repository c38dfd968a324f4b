import { useUrlState } from "../../../api/url-state.ts";
import { SelectField, TextField } from "../../../ui/field.tsx";
import { texts } from "../../texts/calls.ts";
import { dayOf, lastDayOf, RANGES, type RangeName, readRange, type Span, spanOf } from "./range.ts";

/** The chosen time, which stands in the address. */
export function useRange(first: RangeName): { range: RangeName; span: Span } {
  const url = useUrlState();
  const values = { range: url.get("range"), from: url.get("from"), to: url.get("to") };
  const range = readRange(values, first);
  return { range, span: spanOf(range, values, Date.now()) };
}

/** Fields that choose the time: the last days, or days of one's own. */
export function RangeFields({ first }: { first: RangeName }) {
  const url = useUrlState();
  const { range, span } = useRange(first);
  const options = [...RANGES, "custom" as const].map((value) => ({ value, label: texts.ranges[value] }));
  function choose(chosen: string) {
    const days = chosen === "custom" ? { from: dayOf(span.after), to: lastDayOf(span) } : { from: "", to: "" };
    url.set({ range: chosen === first ? "" : chosen, ...days });
  }
  return (
    <>
      <SelectField label={texts.range} value={range} options={options} onValue={choose} />
      {range === "custom" && (
        <>
          <TextField
            type="date"
            label={texts.from}
            value={dayOf(span.after)}
            max={lastDayOf(span)}
            onValue={(from) => from && url.set({ from })}
          />
          <TextField
            type="date"
            label={texts.to}
            value={lastDayOf(span)}
            min={dayOf(span.after)}
            onValue={(to) => to && url.set({ to })}
          />
        </>
      )}
    </>
  );
}
