import assert from "node:assert/strict";
import { test } from "node:test";
import { suggestAt } from "./completion.ts";

const variables = {
  type: "object",
  properties: {
    subscriber: { type: "object", properties: { firstName: { type: ["string", "null"] }, email: { type: "string" } } },
    payload: {
      type: "object",
      properties: { items: { type: "array", items: { type: "object", properties: { price: { type: "number" } } } } },
    },
  },
};

/** The labels that are suggested at the place of `^`. */
function labels(marked: string, isAsked = false): string[] | null {
  const position = marked.indexOf("^");
  const found = suggestAt(marked.replace("^", ""), position, variables, isAsked);
  return found?.options.map((one) => one.label) ?? null;
}

test("variables are suggested in markup, with their members behind a dot", () => {
  assert.deepEqual(labels("Hi {{ ^"), ["subscriber", "payload"]);
  assert.deepEqual(labels("Hi {{ subscriber.^ }}"), ["firstName", "email"]);
  assert.deepEqual(labels("{% if subscriber.fi^ %}"), ["firstName", "email"]);
  assert.deepEqual(labels("{{ payload.items[0].^ }}"), ["price"]);
  assert.equal(suggestAt("{{ subscriber.fi }}", 16, variables, false)?.from, 14);
});

test("items of a loop have the members of the list", () => {
  assert.deepEqual(labels("{% for one in payload.items %}{{ one.^ }}{% endfor %}"), ["price"]);
  assert.deepEqual(labels("{% for one in payload.items %}{{ ^ }}{% endfor %}")?.slice(0, 2), ["one", "forloop"]);
});

test("filters are suggested behind a bar, tags behind the opening", () => {
  assert.ok(labels("{{ subscriber.email | ^")?.includes("upcase"));
  assert.deepEqual(labels("{% if subscriber %}{% ^")?.slice(0, 3), ["endif", "elsif", "else"]);
  assert.ok(!labels("{% ^ %}")?.includes("endif"));
});

test("nothing is suggested in texts, and outside of markup only when asked", () => {
  assert.equal(labels('{{ subscriber.email | append: "a^'), null);
  assert.equal(labels("Hi ^"), null);
  assert.equal(labels("{{ subscriber }} ^"), null);
  assert.deepEqual(labels("Hi ^", true), ["{{ subscriber }}", "{{ payload }}"]);
});
