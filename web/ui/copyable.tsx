import { useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { texts } from "./texts.ts";

/** A text in fixed width with a button that copies it. */
export function Copyable({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  async function copy() {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  }
  return (
    <div class="copyable">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
      <pre tabIndex={0}>{text}</pre>
      <Button onClick={copy}>{copied ? texts.copied : texts.copy}</Button>
    </div>
  );
}
