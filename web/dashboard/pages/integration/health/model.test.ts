import assert from "node:assert/strict";
import { test } from "node:test";
import type { Provider } from "../../../parts/providers.ts";
import {
  type CallError,
  describeHealth,
  describeRate,
  findSigningField,
  groupErrors,
  isLocalAddress,
} from "./model.ts";

test("the state is described by what it means for messages", () => {
  const counts = { sent: 3, failed: 1 };
  assert.match(describeHealth({ circuit: { state: "closed", failures: 3 }, counts }).text, /25% .* last 3 failed/);
  assert.match(
    describeHealth({ circuit: { state: "open", failures: 5 }, counts }).text,
    /After 5 failed calls in a row/,
  );
  assert.match(describeHealth({ circuit: { state: "halfOpen", failures: 5 }, counts }).text, /finds out/);
  assert.equal(
    describeHealth({ circuit: { state: "closed", failures: 0 }, counts: { sent: 1, failed: 0 } }).tone,
    "good",
  );
});

test("errors that say the same are one entry, the newest first", () => {
  const make = (at: string, message: string) => ({ at, message, kind: "permanent" }) as CallError;
  const groups = groupErrors([make("3", "no"), make("2", "wait"), make("1", "no")]);
  assert.deepEqual(
    groups.map((one) => [one.message, one.errors.map((own) => own.at)]),
    [
      ["no", ["3", "1"]],
      ["wait", ["2"]],
    ],
  );
});

test("a limit says what may go or waits, and a pause how long it is", () => {
  assert.match(describeRate({ limit: 2, allowance: 1.5, waitMilliseconds: 0 }) ?? "", /1 may go now/);
  assert.match(describeRate({ limit: 2, allowance: -3, waitMilliseconds: 900 }) ?? "", /3 messages wait/);
  assert.match(describeRate({ waitMilliseconds: 2500 }) ?? "", /2.5 s/);
  assert.equal(describeRate({ waitMilliseconds: 0 }), undefined);
});

test("the key of receipts is the credential that the server names", () => {
  const provider = { credentials: [{ name: "secretKey", label: "Signing key" }] } as unknown as Provider;
  assert.equal(findSigningField(provider, "signature, key in `secretKey`")?.label, "Signing key");
  assert.equal(findSigningField(provider, "signature, certificate of Amazon SNS"), undefined);
});

test("addresses of this machine and of private networks cannot be reached by providers", () => {
  for (const host of ["localhost:3000", "127.0.0.1", "10.1.2.3", "192.168.0.4", "172.20.0.1", "[::1]:3000"]) {
    assert.ok(isLocalAddress(`http://${host}/x`), host);
  }
  assert.ok(!isLocalAddress("https://notify.example.com/x"));
});
