import assert from "node:assert/strict";
import { test } from "node:test";
import { buttonsOf, headlineOf, headOf, type Message, recipientOf } from "./model.ts";

const SMS = { channel: "sms", content: "Hello\n  Ada", cta: { action: { buttons: [] } } } as unknown as Message;

test("a message says where it went", () => {
  assert.equal(recipientOf({ ...SMS, phone: "+49151" }), "+49151");
  assert.equal(recipientOf({ ...SMS, email: "ada@example.com" }), "ada@example.com");
  assert.equal(recipientOf({ ...SMS, deviceTokens: ["a", "b"] }), "2 devices");
  assert.equal(recipientOf({ ...SMS, directWebhookUrl: "https://x" }), "the person's own webhook");
  assert.equal(recipientOf(SMS), "");
});

test("the subject stands for a message, or else how it begins; HTML never does", () => {
  assert.equal(headlineOf({ ...SMS, subject: "Hi" }), "Hi");
  assert.equal(headlineOf(SMS), "Hello Ada");
  assert.equal(headlineOf({ ...SMS, channel: "in_app", subject: "**Hi** there" }), "Hi there");
  assert.equal(headlineOf({ ...SMS, channel: "email", content: "<p>x</p>" }), "(no subject)");
});

test("buttons have their words", () => {
  const cta = {
    action: {
      buttons: [
        { type: "primary", content: "Start" },
        { type: "secondary", content: "Later" },
      ],
    },
  };
  assert.deepEqual(buttonsOf({ cta }), [
    { kind: "primary", label: "Start" },
    { kind: "secondary", label: "Later" },
  ]);
  assert.deepEqual(buttonsOf({ cta: {} }), []);
});

test("the head leaves out what a mail does not have", () => {
  const mail = { replyTo: [], toOthers: ["c@x"], cc: ["a@x", "b@x"], headers: { "X-A": "1" } };
  assert.deepEqual(headOf(mail, "ada@x"), [
    { path: "from", label: "From", value: "the sender of the integration" },
    { path: "to", label: "To", value: "ada@x" },
    { path: "toOthers", label: "Also to", value: "c@x" },
    { path: "cc", label: "Cc", value: "a@x, b@x" },
    { path: "headers.X-A", label: "X-A", value: "1" },
  ]);
  assert.equal(headOf({ from: "s@x", senderName: "Shop" }, "ada@x")[0]?.value, "Shop <s@x>");
});
