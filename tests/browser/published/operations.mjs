// Drives the operations for content, contexts, variables and chat addresses by the published client for JavaScript, which checks every
// answer by its own schemas. `node operations.mjs <address> <API key> <message>` prints the requests.
import assert from "node:assert/strict";
import { HTTPClient, Novu } from "@novu/api";

const [serverURL, secretKey, messageId] = process.argv.slice(2);
const httpClient = new HTTPClient();
httpClient.addHook("response", (answer, request) => {
  console.log(JSON.stringify([request.method, new URL(request.url).pathname, answer.status]));
});
const novu = new Novu({ secretKey, serverURL, httpClient, retryConfig: { strategy: "none" } });

const PAGE = "<html><body><h1>{{subscriber.firstName}}</h1>{{content}}</body></html>";
const step = { name: "Mail", type: "email", controlValues: { subject: "Hi", body: "<p>{{t.hello}}</p>", editorType: "html" } };
const welcome = { resourceId: "welcome", resourceType: "workflow" };

// Most answers come with their headers.
const result = async (operation) => {
  const answer = await operation;
  return answer.headers ? answer.result : answer;
};
const environments = new Map((await result(novu.environments.list())).map(({ name, id }) => [name, id]));
const json = (fileName, content) => ({ fileName, content: new Blob([JSON.stringify(content)]) });

async function driveLayouts() {
  const made = await result(novu.layouts.create({ layoutId: "letter", name: "Letter" }));
  assert.equal(made.isDefault, true);
  const controlValues = { email: { body: PAGE, editorType: "html" } };
  const saved = await result(novu.layouts.update({ name: "Letter", controlValues }, "letter"));
  assert.equal(saved.controls.values.email.body, PAGE);
  const copy = await result(novu.layouts.duplicate({ name: "Other" }, "letter"));
  assert.equal((await result(novu.layouts.list({ query: "other" }))).totalCount, 1);
  assert.equal((await result(novu.layouts.retrieve(copy.slug))).layoutId, "other");
  const preview = await result(novu.layouts.generatePreview({ previewPayload: {} }, "letter"));
  assert.match(preview.result.preview.body, /<h1>/);
  assert.deepEqual((await result(novu.layouts.usage("letter"))).workflows, []);
  await novu.layouts.delete("other");
}

async function driveTranslations() {
  const workflow = { name: "Welcome", workflowId: "welcome", active: true, steps: [step], isTranslationEnabled: true };
  await novu.workflows.create(workflow);
  const german = { workflows: { welcome: { hello: "Hallo" } } };
  await novu.translations.create({ ...welcome, locale: "en_US", content: { hello: "Hello" } });
  const read = await result(novu.translations.retrieve({ ...welcome, locale: "en_US" }));
  assert.equal(read.locale, "en_US");
  assert.equal((await result(novu.translations.master.import({ locale: "de_DE", masterJson: german }))).success, true);
  await novu.translations.upload({ ...welcome, files: [json("en_US.json", { hello: "Hi" })] });
  await novu.translations.master.upload({ file: json("de_DE.json", german) });
  assert.ok((await result(novu.translations.master.retrieve("de_DE"))).workflows.welcome);
  const group = await result(novu.translations.groups.retrieve("workflow", "welcome"));
  assert.deepEqual(group.locales, ["en_US", "de_DE"]);
  const synced = await result(novu.workflows.sync({ targetEnvironmentId: environments.get("Production") }, "welcome"));
  assert.equal(synced.workflowId, "welcome");
  await novu.translations.delete({ ...welcome, locale: "de_DE" });
  await novu.translations.groups.delete("workflow", "welcome");
}

async function driveContexts() {
  const made = await result(novu.contexts.create({ type: "tenant", id: "acme:1", data: { plan: "pro" } }));
  assert.equal(made.id, "acme:1");
  const changed = await result(novu.contexts.update({ id: "acme:1", type: "tenant", updateContextRequestDto: { data: {} } }));
  assert.equal(changed.type, "tenant");
  assert.equal((await result(novu.contexts.list({ search: "acme" }))).data.length, 1);
  assert.equal((await result(novu.contexts.retrieve("acme:1", "tenant"))).id, "acme:1");
  await novu.contexts.delete("acme:1", "tenant");
}

async function driveVariables() {
  const values = [{ environmentId: environments.get("Development"), value: "canary" }];
  const made = await result(novu.environmentVariables.create({ key: "TOKEN", isSecret: true, values }));
  assert.notEqual(made.values[0].value, "canary");
  assert.equal((await result(novu.environmentVariables.list("tok"))).length, 1);
  assert.equal((await result(novu.environmentVariables.update({ key: "API_TOKEN" }, "TOKEN"))).key, "API_TOKEN");
  assert.equal((await result(novu.environmentVariables.retrieve("API_TOKEN"))).isSecret, true);
  assert.deepEqual((await result(novu.environmentVariables.usage("API_TOKEN"))).workflows, []);
  await novu.environmentVariables.delete("API_TOKEN");
}

async function driveSubscriptionsAndActions() {
  await novu.subscribers.create({ subscriberId: "ada" });
  await novu.topics.subscriptions.create({ subscriptions: ["ada"] }, "news");
  const named = { topicKey: "news", identifier: "tk_news:si_ada" };
  const found = await result(novu.topics.subscriptions.getSubscription(named.topicKey, named.identifier));
  assert.equal(found.identifier, named.identifier);
  const preferences = [{ workflowId: "welcome", enabled: false }];
  const changed = await result(novu.topics.subscriptions.update({ ...named, updateTopicSubscriptionRequestDto: { preferences } }));
  assert.equal(changed.preferences[0].enabled, false);
  const action = { messageId, type: "primary", subscriberId: "ada", markMessageActionAsSeenDto: { status: "done" } };
  assert.equal((await result(novu.subscribers.messages.updateAsSeen(action))).cta.action.status, "done");
}

async function driveChatAddresses() {
  const credentials = { applicationId: "A1", clientId: "1.2", secretKey: "secret" };
  const made = await result(novu.integrations.create({ providerId: "slack", channel: "chat", identifier: "slack", active: true, check: false, credentials }));
  const named = { integrationIdentifier: "slack", subscriberId: "ada" };
  const workspace = { id: "T1", name: "Acme" };
  const auth = { accessToken: "xoxb-secret" };
  const connection = await result(novu.channelConnections.create({ ...named, identifier: "acme", workspace, auth }));
  assert.equal(connection.workspace.name, "Acme");
  const moved = await result(novu.channelConnections.update({ workspace: { id: "T2" }, auth }, "acme"));
  assert.equal(moved.workspace.id, "T2");
  assert.equal((await result(novu.channelConnections.list({ subscriberId: "ada" }))).data.length, 1);
  assert.equal((await result(novu.channelConnections.retrieve("acme"))).identifier, "acme");
  const address = { ...named, identifier: "adas", type: "slack_user", connectionIdentifier: "acme", endpoint: { userId: "U1" } };
  await novu.channelEndpoints.create(address);
  const changed = await result(novu.channelEndpoints.update({ endpoint: { userId: "U2" } }, "adas"));
  assert.equal(changed.endpoint.userId, "U2");
  assert.equal((await result(novu.channelEndpoints.list({ subscriberId: "ada" }))).data.length, 1);
  assert.equal((await result(novu.channelEndpoints.retrieve("adas"))).connectionIdentifier, "acme");
  for (const { url } of [
    await result(novu.integrations.generateConnectOAuthUrl(named)),
    await result(novu.integrations.generateLinkUserOAuthUrl(named)),
    await result(novu.integrations.generateChatOAuthUrl({ ...named, mode: "link_user" })),
    await result(novu.integrations.linkChannelEndpoint(named)),
  ]) {
    assert.match(url, /^https:\/\/slack\.com\/oauth\/v2\/authorize\?/);
  }
  // What the vendor has no part of is refused with a reason.
  const configured = await result(novu.integrations.integrationsControllerAutoConfigureIntegration(made.id));
  assert.equal(configured.success, false);
  assert.match(configured.message, /\w/);
  const refused = { statusCode: 422, message: /telegram/ };
  await assert.rejects(novu.integrations.createMobileLink({}, "slack"), refused);
  await assert.rejects(novu.integrations.integrationsControllerConfigureIntegrationWebhook("slack"), refused);
  await novu.channelEndpoints.delete("adas");
  await novu.channelConnections.delete("acme");
}

await driveLayouts();
await driveTranslations();
await driveContexts();
await driveVariables();
await driveSubscriptionsAndActions();
await driveChatAddresses();
