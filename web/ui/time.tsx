import { clockText, momentText, relativeText } from "./formats.ts";

type TimeProps = {
  at: string;
  /** The time of the day to the second, instead of how long ago it was. */
  isClock?: boolean;
};

/** A moment, as long ago as it is; the exact one in the viewer's zone on hover. */
export function Time({ at, isClock = false }: TimeProps) {
  return (
    <time dateTime={at} title={momentText(at, "exact")}>
      {isClock ? clockText(at, Date.now()) : relativeText(at, Date.now())}
    </time>
  );
}
