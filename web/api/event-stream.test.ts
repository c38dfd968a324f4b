import assert from "node:assert/strict";
import { test } from "node:test";
import { parseEvent, readEvents } from "./event-stream.ts";

test("an event has a name, an id and data", () => {
  assert.deepEqual(parseEvent('id: 7\nevent: run\ndata: {"a":1}'), { id: "7", name: "run", data: { a: 1 } });
  assert.equal(parseEvent(": still here"), null);
});

test("events are read however the text is cut", async () => {
  const text = 'id: 1\nevent: run\ndata: "ä"\n\n: ping\n\nid: 2\nevent: run\ndata: 2\n\nid: 3\ndata: lost';
  const bytes = new TextEncoder().encode(text);
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const byte of bytes) {
        controller.enqueue(Uint8Array.of(byte));
      }
      controller.close();
    },
  });
  const found = [];
  for await (const event of readEvents(body)) {
    found.push([event.id, event.data]);
  }
  assert.deepEqual(found, [
    ["1", "ä"],
    ["2", 2],
  ]);
});
