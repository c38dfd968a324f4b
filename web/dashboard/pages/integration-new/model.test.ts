import assert from "node:assert/strict";
import { test } from "node:test";
import type { Provider } from "../../parts/providers.ts";
import { searchCatalogue } from "./model.ts";

const providers = [
  { id: "sns", name: "Amazon SNS", channel: "sms" },
  { id: "twilio", name: "Twilio", channel: "sms" },
  { id: "ses", name: "Amazon SES", channel: "email" },
] as Provider[];

function find(search: string, channel = ""): string[] {
  return searchCatalogue(providers, search, channel).flatMap((group) => group.providers.map((one) => one.id));
}

test("the catalogue is searched by name and id, and narrowed by channel", () => {
  assert.deepEqual(find(""), ["ses", "sns", "twilio"]);
  assert.deepEqual(find("AMAZON"), ["ses", "sns"]);
  assert.deepEqual(find("amazon ses"), ["ses"]);
  assert.deepEqual(find("amazon", "sms"), ["sns"]);
  assert.deepEqual(find("nothing"), []);
});
