import type { ComponentChildren } from "preact";

type SectionProps = {
  title: string;
  mark?: string;
  /** It starts closed, because there is nothing in it yet. */
  isClosed?: boolean;
  /** At the end of the line of the title. */
  action?: ComponentChildren;
  children: ComponentChildren;
};

/** A part of a form, which can be closed if it starts closed. */
export function Section({ title, mark, isClosed, action, children }: SectionProps) {
  const heading = (
    <h2 class="editor-heading">
      {mark && (
        <span class="editor-mark" aria-hidden="true">
          {mark}
        </span>
      )}
      {title}
    </h2>
  );
  if (isClosed === undefined) {
    return (
      <section class="panel stack">
        {action ? (
          <div class="row spread">
            {heading}
            {action}
          </div>
        ) : (
          heading
        )}
        {children}
      </section>
    );
  }
  return (
    <details class="panel editor-section" open={!isClosed}>
      <summary>{heading}</summary>
      <div class="stack">{children}</div>
    </details>
  );
}
