/** Short messages about what was just done, which disappear by themselves. */
import { useEffect, useState } from "preact/hooks";

const SHOWN_FOR = 5000;

let show: ((text: string) => void) | null = null;

/** Say that something was done. Failures belong beside what failed, not here. */
export function notify(text: string): void {
  show?.(text);
}

/** Where notices appear; once, around all pages. */
export function Notices() {
  const [text, setText] = useState("");
  useEffect(() => {
    show = setText;
    return () => {
      show = null;
    };
  }, []);
  useEffect(() => {
    if (text === "") {
      return;
    }
    const timer = setTimeout(() => setText(""), SHOWN_FOR);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div class="notices" role="status">
      {text && <p class="notice">{text}</p>}
    </div>
  );
}
