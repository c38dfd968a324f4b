import assert from "node:assert/strict";
import { test } from "node:test";
import { LANGUAGES, localize } from "./languages.ts";
import { MORE_ENGLISH } from "./more-texts.ts";
import { ENGLISH } from "./texts.ts";

const english: Record<string, string> = { ...ENGLISH, ...MORE_ENGLISH };
const marks = (text: string) => text.match(/\{[nx]\}/g);

test("every language has all texts, with the places for numbers and texts", () => {
  for (const [language, texts] of Object.entries(LANGUAGES)) {
    assert.deepEqual(Object.keys(texts).sort(), Object.keys(english).sort(), language);
    for (const [key, text] of Object.entries(texts)) {
      assert.deepEqual(marks(text), marks(english[key] ?? ""), `${language}.${key}`);
      assert.ok(text.trim(), `${language}.${key}`);
    }
  }
});

test("a region has the texts of its language, and the parts are in it", () => {
  const part = {} as HTMLElement;
  assert.equal(localize([part], "ar-EG"), LANGUAGES.ar);
  assert.deepEqual(part, { lang: "ar-EG", dir: "rtl" });
});

test("a language without texts has none, and leaves the direction of the page", () => {
  const part = {} as HTMLElement;
  assert.deepEqual(localize([part], "he-IL"), {});
  assert.deepEqual(localize([part], "constructor"), {});
  assert.deepEqual(part, {});
});
