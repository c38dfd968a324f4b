"""Every operation that changes the configuration leaves an entry, or is listed here with the reason why not."""

import pytest

from clarion.http.operation import Operation
from clarion.operations import OPERATIONS
from clarion.vocabulary import SCOPE_DESCRIPTIONS, Scope
from tests.audit.support import AUDITED, AuditedChange, list_entries
from tests.support import Api

DATA_SCOPES = {
    Scope.SUBSCRIBERS_WRITE: "data of people, which applications change all the time",
    Scope.TOPICS_WRITE: "data: who is interested in what",
    Scope.CONTEXTS_WRITE: "data of the application, such as its tenants",
    Scope.PREFERENCES_WRITE: "data: what people want",
    Scope.MESSAGES_WRITE: "data: what people did with their messages",
    Scope.EVENTS_WRITE: "data: what happens; the activity feed has it",
}
NOT_AUDITED = {
    (
        "POST",
        "/v2/translations/upload",
    ): "a form, audited as POST /v2/translations; tests/content/translations tries it",
    ("POST", "/v2/translations/master-json/upload"): "a form, audited as the same with JSON",
    ("POST", "/v2/workflows/{workflowId}/step/{stepId}/preview"): "saves nothing",
    ("POST", "/v1/workflows/steps/preview"): "saves nothing",
    (
        "POST",
        "/v1/workflows/steps/test-email",
    ): "needs a provider; tests/workflows/test_email_tests.py looks at its entry",
    ("POST", "/v1/workflows/steps/test-request"): "makes one request, and saves nothing",
    ("POST", "/v2/layouts/{layoutId}/preview"): "saves nothing",
    (
        "POST",
        "/v2/layouts/{layoutId}/test-email",
    ): "needs a provider; tests/workflows/test_email_tests.py looks at its entry",
    ("POST", "/v2/environments/{targetEnvironmentId}/diff"): "saves nothing",
    ("PUT", "/v2/workflows/{workflowId}/sync"): "promotes: the log of the target has it (tests/environments/promotion)",
    ("POST", "/v1/simulate"): "saves nothing",
    ("POST", "/v1/workflows/{workflowId}/impact"): "saves nothing",
    ("POST", "/v1/workflows/{workflowId}/runs/move"): "moves runs; tests/engine/test_moved_runs.py looks at its entry",
    ("POST", "/v1/segments/preview"): "saves nothing",
    (
        "POST",
        "/v1/integrations/{integrationId}/auto-configure",
    ): "asks the provider first; tests/integrations/test_auto_configuration.py reads its entry",
    ("POST", "/v1/integrations/{integrationId}/test"): "sends a message and saves nothing",
    (
        "POST",
        "/v1/integrations/{integrationIdentifier}/webhook/configure",
    ): "asks Telegram first; tests/subscribers/addresses/telegram reads its entry",
    ("POST", "/v1/webhooks/endpoints/{endpointId}/test"): "sends an event, which the deliveries list",
    ("POST", "/v1/webhooks/endpoints/{endpointId}/replay"): "sends events again, which the deliveries list",
    (
        "POST",
        "/v1/webhooks/endpoints/{endpointId}/deliveries/{deliveryId}/replay",
    ): "sends an event again, which the deliveries list",
}


def _changes_configuration(operation: Operation) -> bool:
    return not operation.is_safe and operation.scope is not None and operation.scope not in DATA_SCOPES


def test_every_operation_that_changes_the_configuration_is_audited_or_listed_with_a_reason() -> None:
    configuring = {(one.method, one.path) for one in OPERATIONS if _changes_configuration(one)}
    audited = {one.operation for one in AUDITED}

    assert configuring - audited - NOT_AUDITED.keys() == set(), "add it to AUDITED in tests/audit/support.py"
    assert not audited & NOT_AUDITED.keys()


def test_the_lists_name_only_operations_that_exist() -> None:
    existing = {(one.method, one.path) for one in OPERATIONS}

    assert {one.operation for one in AUDITED} | NOT_AUDITED.keys() <= existing


@pytest.mark.parametrize("change", AUDITED, ids=lambda one: f"{one.method} {one.path}")
async def test_a_change_leaves_one_entry_and_its_repetition_none(api: Api, change: AuditedChange) -> None:
    path, body = await change.prepare(api)
    before = len(await list_entries(api))
    headers = {"X-Request-Id": "req.change:1", "Idempotency-Key": "once"}

    first = await api.request(change.method, path, json=body, headers=headers)
    entries = await list_entries(api, requestId="req.change:1")
    replayed = await api.request(change.method, path, json=body, headers=headers)
    await api.request(change.method, path, json=body, headers={"X-Request-Id": "req.change:2"})
    again = await list_entries(api, requestId="req.change:2")
    everything = await list_entries(api)

    assert first.status_code < 300, first.text
    assert replayed.headers["Idempotency-Replay"] == "true"
    assert change.action in {one["action"] for one in entries}
    assert {one["actor"]["type"] for one in entries} == {"apiKey"}
    assert bool(again) is change.is_repeatable
    assert len(everything) == before + len(entries) + len(again)


def test_every_scope_has_a_description() -> None:
    assert SCOPE_DESCRIPTIONS.keys() == set(Scope)


async def test_scopes_are_listed_with_what_they_allow(api: Api) -> None:
    listed = (await api.get("/v1/scopes")).json()

    assert [one["scope"] for one in listed] == list(Scope)
    assert all(one["description"].endswith(".") for one in listed)
