import type { ComponentChildren } from "preact";
import { type Tone, ToneMark } from "./status.tsx";
import { Time } from "./time.tsx";

export type TimelineEntry = {
  id: string;
  tone: Tone;
  title: ComponentChildren;
  at?: string | null;
  /** What the entry opens to. */
  details?: ComponentChildren;
};

/** What happened, from the top down. */
export function Timeline({ label, entries }: { label: string; entries: readonly TimelineEntry[] }) {
  return (
    <ol class="timeline" aria-label={label}>
      {entries.map((entry) => (
        <li key={entry.id} class={`timeline-entry timeline-${entry.tone}`}>
          <ToneMark tone={entry.tone} />
          <div class="timeline-body">
            {entry.details ? (
              <details>
                <summary>{entry.title}</summary>
                <div class="timeline-details">{entry.details}</div>
              </details>
            ) : (
              <p>{entry.title}</p>
            )}
          </div>
          {entry.at && (
            <span class="timeline-time small quiet">
              <Time at={entry.at} />
            </span>
          )}
        </li>
      ))}
    </ol>
  );
}
