import assert from "node:assert/strict";
import { test } from "node:test";
import type { Provider } from "../../../parts/providers.ts";
import { changesOf, creationOf, credentialsOf, type Integration, isSecretStored, MASK, valuesOf } from "./model.ts";

const provider = {
  id: "nodemailer",
  channel: "email",
  credentials: [
    { name: "host", label: "Host", kind: "text", required: true, secret: false },
    { name: "password", label: "Password", kind: "secret", required: false, secret: true },
    { name: "secure", label: "TLS", kind: "switch", required: false, secret: false },
    { name: "tlsOptions", label: "TLS options", kind: "json", required: false, secret: false },
  ],
} as unknown as Provider;

const integration = {
  name: "Mail",
  identifier: "mail",
  active: true,
  weight: 100,
  conditions: [],
  credentials: { host: "mail.example.com", password: MASK, tlsOptions: { ca: "x" }, apiKey: MASK },
} as unknown as Integration;

test("secrets are not in the form, and stay as they are if nothing is typed", () => {
  const values = valuesOf(provider, integration);
  assert.equal(values.credentials.password, "");
  assert.ok(isSecretStored(integration, "password"));
  assert.deepEqual(credentialsOf(provider, values, integration), integration.credentials);
  assert.deepEqual(changesOf(provider, values, integration), {});
});

test("only what was changed is sent, and credentials whole", () => {
  const values = valuesOf(provider, integration);
  const changed = { ...values, name: "Post", credentials: { ...values.credentials, password: "new", secure: true } };
  assert.deepEqual(changesOf(provider, changed, integration), {
    name: "Post",
    credentials: { host: "mail.example.com", password: "new", secure: true, tlsOptions: { ca: "x" }, apiKey: MASK },
  });
});

test("a stored secret can be removed", () => {
  const values = { ...valuesOf(provider, integration), removed: ["password"] };
  assert.ok(!("password" in credentialsOf(provider, values, integration)));
});

test("limits are numbers, and none is null", () => {
  const values = valuesOf(provider, integration);
  assert.deepEqual(changesOf(provider, { ...values, rateLimit: "2.5" }, integration), { rateLimit: 2.5 });
  assert.deepEqual(changesOf(provider, values, { ...integration, rateLimit: 3 }), { rateLimit: null });
});

test("a new integration leaves out what the server makes itself", () => {
  const values = valuesOf(provider);
  assert.deepEqual(creationOf(provider, { ...values, credentials: { host: "h" } }, false), {
    providerId: "nodemailer",
    channel: "email",
    credentials: { host: "h" },
    active: true,
    weight: 100,
    rateLimit: null,
    conditions: [],
  });
});
