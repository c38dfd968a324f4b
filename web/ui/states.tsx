import type { ComponentChildren } from "preact";
import { Copyable } from "./copyable.tsx";
import { texts } from "./texts.ts";

/** Takes the place of content while it is loaded, without moving what is around it. */
export function Loading({ lines = 3 }: { lines?: number }) {
  return (
    <div class="loading" role="status" aria-label={texts.loading}>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} class="loading-line" />
      ))}
    </div>
  );
}

type EmptyProps = {
  title: string;
  children?: ComponentChildren;
  /** A command that does the next thing. */
  command?: string;
};

/** A list without entries: what belongs here, and how to get the first one. */
export function Empty({ title, children, command }: EmptyProps) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
      {command && <Copyable text={command} />}
    </div>
  );
}
