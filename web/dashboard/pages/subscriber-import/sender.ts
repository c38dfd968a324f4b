/** Sends lines in batches; what the server refuses is taken out by line, and the rest is sent again. */
import { ApiProblem } from "../../../api/problem.ts";
import type { Line, LineProblem, SubscriberIn } from "./model.ts";

export const BATCH = 500;

type Answer = { created: readonly unknown[]; updated: readonly unknown[] };

export type Send = (subscribers: SubscriberIn[]) => Promise<Answer>;

export type BatchResult = { created: number; updated: number; refused: LineProblem[] };

/** Send one batch. Failures that are not about its content are thrown: the same batch can be sent again. */
export async function sendBatch(batch: readonly Line[], send: Send): Promise<BatchResult> {
  const refused: LineProblem[] = [];
  let rest = [...batch];
  while (rest.length > 0) {
    try {
      const answer = await send(rest.map((one) => one.subscriber));
      return { created: answer.created.length, updated: answer.updated.length, refused };
    } catch (error) {
      if (!isAboutContent(error)) {
        throw error;
      }
      const sentences = sentencesByIndex(error);
      if (sentences.size === 0) {
        refused.push(...rest.map((one) => ({ line: one.line, sentence: error.message })));
        break;
      }
      refused.push(
        ...rest.flatMap((one, index) =>
          sentences.has(index) ? [{ line: one.line, sentence: `${sentences.get(index)}` }] : [],
        ),
      );
      rest = rest.filter((_, index) => !sentences.has(index));
    }
  }
  return { created: 0, updated: 0, refused };
}

function isAboutContent(error: unknown): error is ApiProblem {
  return error instanceof ApiProblem && [400, 413, 422].includes(error.status);
}

/** What the server says about single subscribers, by their places: its paths are such as `subscribers.3.email`. */
export function sentencesByIndex(problem: ApiProblem): Map<number, string> {
  const found = new Map<number, string>();
  for (const [path, sentence] of Object.entries(problem.fields)) {
    const place = /^subscribers\.(\d+)(?:\.(.+))?$/.exec(path);
    if (place) {
      const index = Number(place[1]);
      found.set(index, [found.get(index), sentence].filter(Boolean).join(" "));
    }
  }
  return found;
}
