import { useMemo } from "preact/hooks";
import { Brush } from "./brush.tsx";
import type { Tone } from "./status.tsx";
import { texts } from "./texts.ts";

export type Bar = {
  /** The beginning of the interval. */
  at: string;
  label: string;
  parts: readonly { name: string; tone: Tone; value: number }[];
};

type BarsProps = {
  label: string;
  bars: readonly Bar[];
  height?: number;
  /** Write the times of the ends and the highest number at the chart. */
  hasScale?: boolean;
  /** With this, people choose some of the bars by dragging or with the keyboard. */
  onSelect?: (first: number, last: number) => void;
};

/** Stacked bars, with the same numbers as a table, without empty bars, for those who cannot see them. */
export function Bars({ label, bars, height = 96, hasScale = false, onSelect }: BarsProps) {
  const highest = Math.max(1, ...bars.map(totalOf));
  // Drawn once: what is around it changes more often than these.
  const chart = useMemo(() => <Chart bars={bars} height={height} highest={highest} />, [bars, height, highest]);
  const numbers = useMemo(() => <NumbersTable label={label} bars={bars} />, [label, bars]);
  return (
    <figure class="bars">
      {hasScale && <p class="bars-highest small quiet">{bars.some(totalOf) ? texts.highest(highest) : "\u00a0"}</p>}
      {onSelect ? (
        <Brush
          label={label}
          count={bars.length}
          describe={(first, last) => describeBars(bars, first, last)}
          onSelect={onSelect}
        >
          {chart}
        </Brush>
      ) : (
        chart
      )}
      {hasScale && (
        <div class="bars-times small quiet" aria-hidden="true">
          <span>{bars[0]?.label}</span>
          <span class="bars-middle">{bars[Math.floor(bars.length / 2)]?.label}</span>
          <span>{bars.at(-1)?.label}</span>
        </div>
      )}
      {numbers}
    </figure>
  );
}

function Chart({ bars, height, highest }: { bars: readonly Bar[]; height: number; highest: number }) {
  return (
    <svg
      class="bars-chart"
      viewBox={`0 0 ${Math.max(1, bars.length) * 10} ${height}`}
      height={height}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {bars.map((bar, index) => (
        <BarStack key={bar.at} bar={bar} left={index * 10} height={height} highest={highest} />
      ))}
    </svg>
  );
}

function NumbersTable({ label, bars }: { label: string; bars: readonly Bar[] }) {
  return (
    <div class="visually-hidden">
      <table>
        <caption>{label}</caption>
        <thead>
          <tr>
            <th scope="col">{texts.time}</th>
            {bars[0]?.parts.map((part) => (
              <th key={part.name} scope="col">
                {part.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {bars.filter(totalOf).map((bar) => (
            <tr key={bar.at}>
              <th scope="row">{bar.label}</th>
              {bar.parts.map((part) => (
                <td key={part.name}>{part.value}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

type BarStackProps = { bar: Bar; left: number; height: number; highest: number };

function BarStack({ bar, left, height, highest }: BarStackProps) {
  let top = height;
  const rectangles = bar.parts.map((part) => {
    if (part.value === 0) {
      return null;
    }
    // What is there can be seen, however little it is.
    const size = Math.max((part.value / highest) * height, 1.5);
    top -= size;
    return <rect key={part.name} class={`bars-${part.tone}`} x={left + 1} y={top} width={8} height={size} />;
  });
  const summary = bar.parts.map((part) => `${part.name}: ${part.value}`).join("\n");
  return (
    <g>
      <title>{`${bar.label}\n${summary}`}</title>
      <rect class="bars-ground" x={left} y={0} width={10} height={height} />
      {rectangles}
    </g>
  );
}

function totalOf(bar: Bar): number {
  return bar.parts.reduce((sum, part) => sum + part.value, 0);
}

function describeBars(bars: readonly Bar[], first: number, last: number): string {
  const total = bars.slice(first, last + 1).reduce((sum, bar) => sum + totalOf(bar), 0);
  return texts.chosenBars(bars[first]?.label ?? "", bars[last]?.label ?? "", total);
}
