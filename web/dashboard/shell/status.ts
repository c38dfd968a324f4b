/** What the status line says. */
import type { components } from "../../api/schema.d.ts";
import { ageText, numberText } from "../../ui/formats.ts";
import type { Tone } from "../../ui/status.tsx";
import { texts } from "../texts/shell.ts";

export type EnvironmentStatus = components["schemas"]["EnvironmentStatus"];

const { status: words } = texts;
/** What is younger is being worked on. */
const SLOW_SECONDS = 60;
const STUCK_SECONDS = 600;
const QUEUES = ["lane", "send", "webhook"] as const;

export type Summary = { tone: Tone; text: string; details: string };

/** How much waits, and since when. */
export function summarize({ backlog, workers }: EnvironmentStatus): Summary {
  const busy = QUEUES.flatMap((name) => {
    const queue = backlog[name];
    return queue && queue.count > 0 ? [[name, queue] as const] : [];
  });
  const details = busy
    .map(([name, queue]) => words.queue(words.queues[name], sizeText(queue), ageText(queue.oldestSeconds)))
    .join("\n");
  if (workers === 0) {
    return { tone: "bad", text: words.noWorker, details };
  }
  if (busy.length === 0) {
    return { tone: "good", text: words.noBacklog, details };
  }
  const oldest = Math.max(...busy.map(([, queue]) => queue.oldestSeconds));
  const count = busy.reduce((sum, [, queue]) => sum + queue.count, 0);
  const isCapped = busy.some(([, queue]) => queue.isCapped);
  const tone = oldest < SLOW_SECONDS ? "plain" : oldest < STUCK_SECONDS ? "warn" : "bad";
  return { tone, text: words.backlog(sizeText({ count, isCapped }), ageText(oldest)), details };
}

function sizeText({ count, isCapped }: { count: number; isCapped: boolean }): string {
  return isCapped ? words.more(count) : numberText(count);
}
