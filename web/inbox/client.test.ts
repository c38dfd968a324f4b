import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { type ClientEvents, InboxClient, InboxError } from "./client.ts";
import { FakeServer } from "./fake-server.ts";

let server: FakeServer;
let client: InboxClient;

beforeEach(async () => {
  server = await FakeServer.start();
  client = makeClient();
});

afterEach(async () => {
  client.stop();
  await server.stop();
});

function makeClient(): InboxClient {
  return new InboxClient({
    server: `${server.address}/`,
    applicationIdentifier: "app",
    subscriberId: "ada",
    subscriberHash: "hash",
  });
}

function next<Name extends keyof ClientEvents>(name: Name, from = client): Promise<ClientEvents[Name]> {
  return new Promise((resolve) => {
    const stop = from.on(name, (value) => {
      stop();
      resolve(value);
    });
  });
}

test("a session is begun with the person, the hash and the time zone, and its counts are emitted", async () => {
  const counted = next("counts");

  const session = await client.start();

  assert.equal(session.token, "token-1");
  assert.equal((await counted).total, 2);
  const body = server.requests[0]?.body as Record<string, unknown>;
  assert.equal(body.applicationIdentifier, "app");
  assert.equal(body.subscriberHash, "hash");
  assert.deepEqual(body.subscriber, {
    subscriberId: "ada",
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  });
});

test("a list is asked for with the filters as the API writes them, and with the token", async () => {
  await client.list({ limit: 5, after: "n1", tags: ["a", "b"], read: false, data: { plan: "pro" } });

  const request = server.requests.at(-1);
  assert.equal(request?.token, "token-1");
  assert.deepEqual(request?.query.getAll("tags[]"), ["a", "b"]);
  assert.equal(request?.query.get("after"), "n1");
  assert.equal(request?.query.get("read"), "false");
  assert.equal(request?.query.get("data"), '{"plan":"pro"}');
});

test("every action uses its method and path", async () => {
  await client.start();
  const until = new Date("2026-01-02T09:00:00Z");

  await client.read("n");
  await client.unread("n");
  await client.archive("n");
  await client.unarchive("n");
  await client.snooze("n", until);
  await client.unsnooze("n");
  await client.complete("n", "primary");
  await client.revert("n", "secondary");
  await client.delete("n");
  await client.readAll({ tags: ["a"] });
  await client.archiveAll();
  await client.archiveRead();
  await client.deleteAll({ data: { x: 1 } });
  await client.seen(["n"]);
  await client.updatePreference({ email: false });
  await client.updatePreference({ email: false }, "wf 1");
  await client.updateSchedule({ isEnabled: false });

  const one = "/v1/inbox/notifications/n";
  const patches = ["read", "unread", "archive", "unarchive", "snooze", "unsnooze", "complete", "revert"];
  const preferences = "/v1/inbox/preferences";
  assert.deepEqual(server.pathsOf("PATCH"), [
    ...patches.map((name) => `${one}/${name}`),
    preferences,
    `${preferences}/wf%201`,
    preferences,
  ]);
  assert.deepEqual(server.pathsOf("DELETE"), [`${one}/delete`]);
  const all = ["read", "archive", "read-archive", "delete", "seen"];
  assert.deepEqual(
    server.pathsOf("POST").slice(1),
    all.map((name) => `/v1/inbox/notifications/${name}`),
  );
  const bodies = server.requests.map((request) => request.body).filter((body) => body);
  assert.ok(bodies.some((body) => JSON.stringify(body) === '{"snoozeUntil":"2026-01-02T09:00:00.000Z"}'));
  assert.ok(bodies.some((body) => JSON.stringify(body) === '{"tags":[],"data":"{\\"x\\":1}"}'));
});

test("a change is sent after the answer to the one before", async () => {
  await client.start();
  let seenMeanwhile: string[] = [];
  server.answers.set("PATCH /v1/inbox/notifications/n/read", async () => {
    await setTimeout(50);
    seenMeanwhile = server.pathsOf("POST").slice(1);
    return { status: 404, body: { message: "Notification 'n' does not exist" } };
  });

  const reading = client.read("n");
  const archiving = client.archiveRead();

  await assert.rejects(reading);
  await archiving;
  assert.deepEqual(seenMeanwhile, []);
  assert.deepEqual(server.pathsOf("POST").slice(1), ["/v1/inbox/notifications/read-archive"]);
});

test("a refusal has the server's sentence, and the sentences of its fields", async () => {
  server.answers.set("PATCH /v1/inbox/notifications/n/archive", () => ({
    status: 404,
    body: { message: "Notification 'n' does not exist" },
  }));
  server.answers.set("PATCH /v1/inbox/notifications/n/snooze", () => ({
    status: 422,
    body: { message: "Validation Error", errors: { snoozeUntil: { messages: ["must be in the future"] } } },
  }));

  await assert.rejects(client.archive("n"), (error: InboxError) => {
    assert.ok(error instanceof InboxError);
    assert.equal(error.status, 404);
    return error.message === "Notification 'n' does not exist";
  });
  await assert.rejects(client.snooze("n", new Date()), { message: "snoozeUntil must be in the future" });
});

test("a session that is over is renewed once, and the request repeated", async () => {
  await client.start();
  server.answers.set("GET /v1/inbox/preferences", ({ token }) =>
    token === "token-1" ? { status: 401, body: { message: "over" } } : { body: { data: [] } },
  );

  assert.deepEqual(await client.preferences(), []);
  assert.equal(server.sessions, 2);

  server.answers.set("GET /v1/inbox/preferences", () => ({ status: 401, body: { message: "over" } }));
  await assert.rejects(client.preferences(), { message: "over", status: 401 });
  assert.equal(server.sessions, 3);
});

test("real time emits notifications in the shape of lists, and counts", async () => {
  const connected = next("connected");
  await client.start();
  await connected;
  const received = next("received");
  const button = { type: "primary", content: "Go", url: "/go", target: "_self" };
  const action = { buttons: [button], status: "done", result: { type: "primary" } };
  const cta = { action, data: { url: "/somewhere" } };
  server.push("notification_received", {
    message: { _id: "n1", content: "Hello", read: false, seen: false, archived: false, createdAt: "2026-01-01", cta },
  });

  const notification = await received;

  assert.equal(notification.id, "n1");
  assert.equal(notification.body, "Hello");
  assert.equal(notification.isRead, false);
  assert.equal(notification.primaryAction?.label, "Go");
  assert.equal(notification.primaryAction?.isCompleted, true);
  assert.equal(notification.secondaryAction, null);
  assert.equal(notification.redirect?.url, "/somewhere");

  const updated = next("updated");
  server.push("notification_updated", {
    message: { _id: "n1", content: "Changed", read: false, seen: false, archived: false, createdAt: "2026-01-01", cta },
  });
  assert.equal((await updated).body, "Changed");
  const removed = next("removed");
  server.push("notification_removed", { messageId: "n1" });
  assert.equal(await removed, "n1");

  const counted = next("counts");
  server.push("unread_count_changed", { counts: { total: 7, severity: { high: 7, medium: 0, low: 0, none: 0 } } });
  assert.equal((await counted).total, 7);
});

test("after a lost connection the client comes back, and fetches the counts and the first page", async () => {
  const connected = next("connected");
  await client.start();
  await connected;
  server.answers.set("GET /v1/inbox/notifications", () => ({ body: { data: [{ id: "missed" }], hasMore: false } }));
  const states: boolean[] = [];
  client.on("connected", (state) => states.push(state));
  const caughtUp = next("caughtUp");

  server.dropSockets();

  assert.equal((await caughtUp).data[0]?.id, "missed");
  assert.deepEqual(states, [false, true]);
  assert.ok(server.pathsOf("GET").includes("/v1/inbox/notifications/count"));
});

test("reads that fail for want of a connection are kept, and sent when it is back", async () => {
  await client.start();
  server.answers.set("PATCH /v1/inbox/notifications/n/read", () => ({ status: 503, body: { message: "busy" } }));

  assert.equal(await client.read("n"), null);
  server.answers.delete("PATCH /v1/inbox/notifications/n/read");
  await client.sendQueuedReads();
  await client.sendQueuedReads();

  assert.equal(server.pathsOf("PATCH").filter((path) => path.endsWith("/n/read")).length, 2);
});

test("a kept read that the server refuses for good is given up", async () => {
  await client.start();
  const statuses = [503, 404];
  server.answers.set("PATCH /v1/inbox/notifications/n/read", () => ({ status: statuses.shift() ?? 200, body: {} }));

  await client.read("n");
  await client.sendQueuedReads();
  await client.sendQueuedReads();

  assert.deepEqual(statuses, []);
  assert.equal(server.pathsOf("PATCH").length, 2);
});

test("marking unread forgets a kept read", async () => {
  await client.start();
  server.answers.set("PATCH /v1/inbox/notifications/n/read", () => ({ status: 503, body: {} }));
  await client.read("n");

  await client.unread("n");
  await client.sendQueuedReads();

  assert.deepEqual(
    server.pathsOf("PATCH").map((path) => path.split("/").at(-1)),
    ["read", "unread"],
  );
});

test("a client that was stopped while it started does not connect", async () => {
  const starting = client.start();
  client.stop();
  await starting;
  await makeClient().list();

  assert.deepEqual(server.pathsOf("SOCKET"), []);
});
