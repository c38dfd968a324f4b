import assert from "node:assert/strict";
import { test } from "node:test";
import { type TestValues, testMessageOf } from "./model.ts";

const values: TestValues = {
  email: " ada@example.com ",
  phone: "",
  deviceTokens: "one\n two \n\n",
  webhookUrl: "",
  channel: "",
  subscriberId: "",
  subject: "Hello",
  content: "Text",
};

test("a test message has the addresses of its channel alone", () => {
  assert.deepEqual(testMessageOf("email", values), {
    to: { email: "ada@example.com" },
    subject: "Hello",
    content: "Text",
  });
  assert.deepEqual(testMessageOf("push", values).to, { deviceTokens: ["one", "two"] });
});

test("a subscriber stands for addresses that are not given", () => {
  assert.deepEqual(testMessageOf("sms", { ...values, subscriberId: "ada" }), {
    to: {},
    subscriberId: "ada",
    content: "Text",
  });
});
