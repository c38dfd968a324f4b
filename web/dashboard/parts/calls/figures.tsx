import { durationText, numberText, percentText } from "../../../ui/formats.ts";
import { texts } from "../../texts/calls.ts";
import { type CallTotal, failureRate } from "./counts.ts";

/** The numbers of a time, large enough to be read at a glance. */
export function CallFigures({ total }: { total: CallTotal }) {
  const rate = failureRate(total);
  const values: [string, string][] = [
    [texts.sent, numberText(total.sent)],
    [texts.failed, numberText(total.failed)],
    [texts.failureRate, rate === undefined ? texts.none : percentText(rate)],
    [texts.average, total.average === undefined ? texts.none : durationText(total.average)],
    [texts.slowest, total.slowest === undefined ? texts.none : durationText(total.slowest)],
  ];
  return (
    <dl class="call-figures">
      {values.map(([name, value]) => (
        <div key={name}>
          <dt class="small quiet">{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
