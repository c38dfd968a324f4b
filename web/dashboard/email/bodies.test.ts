import assert from "node:assert/strict";
import { test } from "node:test";
import { convertBody, isBlockDocument, kindOf } from "./bodies.ts";

const DOCUMENT = '{"type": "doc", "content": []}';

test("a document of blocks is one whatever is said of it", () => {
  assert.equal(kindOf(DOCUMENT, "html"), "block");
  assert.equal(kindOf("<p>Hi</p>", undefined), "html");
  assert.equal(kindOf("<mjml></mjml>", "mjml"), "mjml");
  assert.equal(kindOf("{{ payload.text }}", "block"), "html");
});

test("HTML is kept when another kind is chosen", () => {
  assert.match(convertBody("<p>Hi</p>", "html", "mjml"), /<mj-text>\s*<p>Hi<\/p>/);
  const blocks = convertBody("<p>Hi</p>", "html", "block");
  assert.ok(isBlockDocument(blocks));
  assert.ok(blocks.includes("<p>Hi</p>"));
  assert.equal(convertBody("<p>Hi</p>", "html", "html"), "<p>Hi</p>");
});

test("what cannot be kept starts anew", () => {
  assert.equal(convertBody("<mjml></mjml>", "mjml", "html"), "");
  assert.ok(isBlockDocument(convertBody("", "html", "block")));
  assert.ok(!convertBody("<html><body>Hi</body></html>", "html", "mjml").includes("<html>"));
});
