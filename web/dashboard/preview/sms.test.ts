import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { countSms } from "./sms.ts";

// The service is tested with the same texts.
const cases = JSON.parse(readFileSync(new URL("../../../tests/providers/sms/parts.json", import.meta.url), "utf8"));

test("parts and encoding are those of the service", () => {
  for (const [piece, times, isGsm7, parts] of cases) {
    const found = countSms(piece.repeat(times));
    assert.deepEqual([found.encoding === "GSM-7", found.parts], [isGsm7, parts], `${piece} ${times}`);
  }
});

test("what is left of the last part, and what makes the text dearer, is known", () => {
  assert.deepEqual(countSms("Hi {you}"), {
    characters: 8,
    encoding: "GSM-7",
    parts: 1,
    used: 10,
    limit: 160,
    special: [],
  });
  assert.deepEqual(countSms(`${"a".repeat(70)}…`), {
    characters: 71,
    encoding: "UCS-2",
    parts: 2,
    used: 4,
    limit: 67,
    special: ["…"],
  });
  assert.equal(countSms("").parts, 1);
});
