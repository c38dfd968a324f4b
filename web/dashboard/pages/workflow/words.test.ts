import assert from "node:assert/strict";
import { test } from "node:test";
import { describeStep } from "./words.ts";

test("a digest says how long it waits and what it does then", () => {
  assert.equal(
    describeStep("digest", { type: "regular", amount: 10, unit: "minutes" }),
    "Waits 10 minutes, then sends one message with everything that came",
  );
  assert.match(
    describeStep("digest", { amount: 1, unit: "hours", digestKey: "payload.post" }),
    /1 hour.*payload\.post/,
  );
  assert.match(describeStep("digest", { type: "timed", cron: "0 9 * * *" }), /0 9 \* \* \*/);
  assert.match(describeStep("digest", {}), /not set/);
  assert.match(describeStep("digest", { dynamicKey: "payload.every" }), /Waits payload\.every,/);
  const limits = { slideUpTo: { amount: 3, unit: "hours" }, maxItems: 20 };
  assert.match(
    describeStep("digest", { amount: 1, unit: "hours", ...limits }),
    /1 hour.*up to 3 hours.*at once with 20 events/,
  );
});

test("delays and throttles say what they wait for and let through", () => {
  assert.equal(describeStep("delay", { type: "regular", amount: 1, unit: "days" }), "Waits 1 day, then goes on");
  assert.match(describeStep("delay", { type: "scheduled", delayPath: "payload.at" }), /payload\.at/);
  assert.match(describeStep("throttle", { threshold: 3, amount: 1, unit: "hours" }), /3 events through within 1 hour,/);
});

test("a message shows its subject, or the text without markup", () => {
  assert.equal(describeStep("email", { subject: "Hi", body: "<p>…</p>" }), "Hi");
  assert.equal(describeStep("in_app", { body: "<b>Hi</b>  there" }), "Hi there");
});

test("a question says what it asks, and for how long it waits", () => {
  assert.equal(
    describeStep("ask", { question: "Approve order {{payload.order}}?", timeout: { amount: 2, unit: "days" } }),
    "Asks “Approve order {{payload.order}}?”, and waits at most 2 days",
  );
  assert.match(describeStep("ask", {}), /not written/);
});

test("an HTTP step says what it calls, and for whom", () => {
  assert.equal(
    describeStep("http_request", { url: "https://example.com/{{payload.order}}" }),
    "Calls POST https://example.com/{{payload.order}}",
  );
  assert.equal(
    describeStep("http_request", { method: "GET", url: "{{env.URL}}", share: "trigger" }),
    "Calls GET {{env.URL}}, once for all people of a trigger",
  );
  assert.match(describeStep("http_request", {}), /not set/);
});
