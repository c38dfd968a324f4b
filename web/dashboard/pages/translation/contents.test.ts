import assert from "node:assert/strict";
import { test } from "node:test";
import { changedLocales, missingIn, rebaseContents, rowsOf, withoutKey, withText } from "./contents.ts";

const contents = {
  en_US: { "a.b": "Flat", hello: { title: "Hello", items: { one: "One item", other: "{{n}} items" } } },
  de_DE: { hello: { title: "Hallo" } },
};

test("flat and nested texts are rows of one table", () => {
  const rows = rowsOf(contents, ["en_US", "de_DE"]);
  assert.deepEqual(
    rows.map((row) => row.key),
    ["a.b", "hello.title", "hello.items.one", "hello.items.other"],
  );
  assert.deepEqual(rows[1]?.texts, { en_US: "Hello", de_DE: "Hallo" });
  assert.deepEqual(missingIn(rows[0] ?? { key: "", texts: {} }, ["en_US", "de_DE"]), ["de_DE"]);
});

test("a text comes where the other languages have it", () => {
  const flat = withText(contents, "de_DE", "a.b", "Flach");
  assert.equal(flat.de_DE?.["a.b"], "Flach");
  const nested = withText(contents, "de_DE", "hello.items.one", "Ein Ding");
  assert.deepEqual(nested.de_DE, { hello: { title: "Hallo", items: { one: "Ein Ding" } } });
  assert.deepEqual(withText(contents, "fr_FR", "new.key", "Neuf").fr_FR, { "new.key": "Neuf" });
});

test("a key is removed from all languages, with the objects that are empty then", () => {
  const without = withoutKey(contents, "hello.title");
  assert.deepEqual(without.de_DE, {});
  assert.deepEqual(Object.keys(without.en_US?.hello as object), ["items"]);
});

test("texts that others saved stay, except where both changed the same one", () => {
  const mine = withText(withText(contents, "de_DE", "hello.title", "Guten Tag"), "en_US", "a.b", undefined);
  const theirs = withText(withText(contents, "de_DE", "hello.title", "Servus"), "de_DE", "new", "Neu");
  const merged = rebaseContents(contents, mine, theirs);
  assert.deepEqual(merged.de_DE, { hello: { title: "Guten Tag" }, new: "Neu" });
  assert.deepEqual(Object.keys(merged.en_US ?? {}), ["hello"]);
});

test("only languages that changed are saved", () => {
  assert.deepEqual(changedLocales(contents, withText(contents, "de_DE", "x", "y")), ["de_DE"]);
  assert.deepEqual(changedLocales(contents, contents), []);
});
