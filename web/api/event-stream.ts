/** Server-sent events, read with fetch: EventSource cannot send the header that names the environment. */
import { environmentHeaders, renewSession } from "./client.ts";
import { ApiProblem } from "./problem.ts";

export type StreamEvent = { id: string; name: string; data: unknown };

type Listener = {
  onEvent: (event: StreamEvent) => void;
  onState: (isConnected: boolean) => void;
};

const FIRST_WAIT = 500;
const LONGEST_WAIT = 15_000;

/** Listen to a stream, from a position if there is one, and connect again where it broke off, until it is aborted. */
export async function listen(
  path: string,
  { onEvent, onState }: Listener,
  signal: AbortSignal,
  position = "",
): Promise<void> {
  let lastId = position;
  let wait = FIRST_WAIT;
  while (!signal.aborted) {
    try {
      const headers = {
        Accept: "text/event-stream",
        ...environmentHeaders(),
        ...(lastId && { "Last-Event-ID": lastId }),
      };
      const response = await fetch(path, { headers, signal });
      if (!response.ok || response.body === null) {
        const body = await response.json().catch(() => undefined);
        throw new ApiProblem(response.status, body, response.headers.get("x-request-id"));
      }
      onState(true);
      for await (const event of readEvents(response.body)) {
        wait = FIRST_WAIT;
        lastId = event.id || lastId;
        onEvent(event);
      }
    } catch (error) {
      if (error instanceof ApiProblem && error.status < 500 && error.status !== 429) {
        onState(false);
        if (error.status === 401 && (await renewSession())) {
          continue;
        }
        throw error;
      }
    }
    if (!signal.aborted) {
      onState(false);
      await sleep(wait * (0.5 + Math.random()), signal);
      wait = Math.min(wait * 2, LONGEST_WAIT);
    }
  }
}

export async function* readEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<StreamEvent> {
  let text = "";
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) {
        return;
      }
      const blocks = (text + value).split(/\r?\n\r?\n/);
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = parseEvent(block);
        if (event) {
          yield event;
        }
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** An event of its lines; null for a comment, which only keeps the connection open. */
export function parseEvent(block: string): StreamEvent | null {
  let id = "";
  let name = "message";
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "id") {
      id = value;
    } else if (field === "event") {
      name = value;
    } else if (field === "data") {
      data.push(value);
    }
  }
  return data.length === 0 ? null : { id, name, data: JSON.parse(data.join("\n")) };
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      done();
    });
  });
}
