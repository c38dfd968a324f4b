import type { ComponentChildren } from "preact";

export type Tone = "good" | "warn" | "bad" | "wait" | "plain";

const MARKS: Record<Tone, string> = { good: "✓", warn: "!", bad: "✕", wait: "…", plain: "–" };

/** A word with a colour and a mark, so that the colour alone never says it. */
export function Status({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return (
    <span class={`status status-${tone}`}>
      <span aria-hidden="true">{MARKS[tone]}</span> {children}
    </span>
  );
}

/** A word that says what kind of thing something is, without a judgement. */
export function Tag({ children, isLoud = false }: { children: ComponentChildren; isLoud?: boolean }) {
  return <span class={`status ${isLoud ? "status-bad" : "status-plain"}`}>{children}</span>;
}

/** The mark alone, where words stand beside it. */
export function ToneMark({ tone }: { tone: Tone }) {
  return (
    <span class={`status tone-mark status-${tone}`} aria-hidden="true">
      {MARKS[tone]}
    </span>
  );
}
