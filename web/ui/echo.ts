/** Texts that come back after they were typed, told from others that are to be shown. */
import { useEffect, useRef } from "preact/hooks";

/** Calls `show` for a value that was not typed; the function that is returned takes what was. */
export function useEcho(value: string, show: (value: string) => void): (typed: string) => void {
  const sent = useRef<string[]>([]);
  useEffect(() => {
    // What was typed comes back after more has been typed; only other texts replace what stands here.
    const echo = sent.current.lastIndexOf(value);
    if (echo >= 0) {
      sent.current.splice(0, echo + 1);
    } else {
      show(value);
    }
  }, [value]);
  return (typed) => sent.current.push(typed);
}
