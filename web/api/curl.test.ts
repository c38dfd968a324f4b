import assert from "node:assert/strict";
import { test } from "node:test";
import { curlCommand } from "./curl.ts";

test("a command can be pasted into a shell, whatever is in its body", () => {
  const command = curlCommand(
    { method: "POST", path: "/v1/events/trigger", body: { name: "it's $HOME" } },
    "http://localhost:3000",
  );
  assert.equal(
    command,
    [
      "curl -X POST 'http://localhost:3000/v1/events/trigger' \\",
      '  -H "Authorization: ApiKey $CLARION_API_KEY" \\',
      "  -H 'Content-Type: application/json' \\",
      `  -d '{"name":"it'\\''s $HOME"}'`,
    ].join("\n"),
  );
});
