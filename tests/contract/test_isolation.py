"""Resources of another environment cannot be read, changed or told apart from missing ones, on any route."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from clarion.audit.model import SERVICE, Author
from clarion.clock import DAY, Millis
from clarion.db.port import Connection, Database
from clarion.environments.actions import create_without_inboxes
from clarion.environments.model import Environment
from clarion.environments.variables.model import EnvironmentVariable
from clarion.environments.variables.store import insert_variable
from clarion.http.operation import Operation
from clarion.ids import VariableId, id_text, new_id
from clarion.members.actions import NewMember, create_member
from clarion.members.model import Access, Link, Member, read_address
from clarion.members.team.managing import Manager, invite
from clarion.operations import OPERATIONS
from clarion.vault import Vault
from clarion.vocabulary import Channel, Role
from tests.audit.support import new_address
from tests.records import NOW, make_job, make_message, make_notification, make_subscriber, make_trigger, make_workflow
from tests.subscribers.addresses.support import add_endpoint, connect, make_slack
from tests.support import Api

MISSING = {
    "subscriberId": "missing",
    "externalSubscriberId": "missing",
    "topicKey": "missing",
    "identifier": "tk_missing:si_missing",
    "segmentKey": "missing",
    "scheduleKey": "missing",
    "variableKey": "MISSING",
    "contextType": "tenant",
    "linkToken": "missing",
    "challenge": "missing",
    "contextId": "missing",
    "transactionId": "missing",
    "workflowId": "missing",
    "layoutId": "missing",
    "stepId": "missing",
    "versionId": "01a1df28-0000-7000-8000-000000000000",
    "actionType": "primary",
    "providerId": "fcm",
    "integrationId": "01a1df28-0000-7000-8000-000000000000",
    "messageId": "01a1df28-0000-7000-8000-000000000000",
    "notificationId": "01a1df28-0000-7000-8000-000000000000",
    "deadLetterId": "01a1df28-0000-7000-8000-000000000000",
    "apiKeyId": "01a1df28-0000-7000-8000-000000000000",
    "endpointId": "01a1df28-0000-7000-8000-000000000000",
    "connectionIdentifier": "missing",
    "integrationIdentifier": "missing",
    "endpointIdentifier": "missing",
    "deliveryId": "01a1df28-0000-7000-8000-000000000000",
    "environmentId": "01a1df28-0000-7000-8000-000000000001",
    "targetEnvironmentId": "01a1df28-0000-7000-8000-000000000001",
    "channel": "email",
    "address": "missing@example.org",
    "memberId": "01a1df28-0000-7000-8000-000000000000",
    "invitationId": "0" * 32,
    "resourceType": "workflow",
    "resourceId": "missing",
    "locale": "en_US",
}
MALFORMED = dict.fromkeys(
    (
        *("endpointId", "deliveryId", "integrationId", "messageId", "notificationId", "deadLetterId", "apiKeyId"),
        "memberId",
    ),
    "not-an-id",
) | {"environmentId": "no-environment", "targetEnvironmentId": "no-environment"}

BODIES: dict[tuple[str, str], Any] = {
    ("PATCH", "/v2/subscribers/{subscriberId}"): {"firstName": "Taken over"},
    ("PATCH", "/v1/subscribers/{subscriberId}/online-status"): {"isOnline": True},
    ("PATCH", "/v1/subscribers/{subscriberId}/credentials"): {"providerId": "fcm", "credentials": {}},
    ("PUT", "/v1/subscribers/{subscriberId}/credentials"): {"providerId": "fcm", "credentials": {}},
    ("PATCH", "/v2/subscribers/{subscriberId}/preferences"): {"channels": {"email": False}},
    ("PATCH", "/v2/subscribers/{subscriberId}/preferences/bulk"): {
        "preferences": [{"workflowId": "w", "channels": {}}]
    },
    ("POST", "/v1/subscribers/{subscriberId}/messages/mark-as"): {"messageId": MISSING["messageId"], "markAs": "read"},
    ("POST", "/v1/subscribers/{subscriberId}/messages/mark-all"): {"markAs": "read"},
    ("PATCH", "/v1/messages/{messageId}"): {"body": "Taken over"},
    ("POST", "/v1/subscribers/{subscriberId}/messages/{messageId}/actions/{actionType}"): {"status": "done"},
    ("PATCH", "/v2/topics/{topicKey}/subscriptions/{identifier}"): {"name": "Taken over"},
    **{
        ("POST", f"/v2/subscribers/{{subscriberId}}/notifications/{action}"): {}
        for action in ("seen", "read", "archive", "read-archive", "delete")
    },
    ("PATCH", "/v2/subscribers/{subscriberId}/notifications/{notificationId}/snooze"): {
        "snoozeUntil": "2026-01-01T01:00:00.000Z"
    },
    ("PATCH", "/v2/topics/{topicKey}"): {"name": "Taken over"},
    ("PATCH", "/v1/segments/{segmentKey}"): {"name": "Taken over"},
    ("PATCH", "/v1/schedules/{scheduleKey}"): {"name": "Taken over"},
    ("PATCH", "/v2/contexts/{contextType}/{contextId}"): {"data": {"name": "Taken over"}},
    ("DELETE", "/v2/topics/{topicKey}/subscriptions"): {"subscriberIds": ["ada"]},
    ("PUT", "/v2/workflows/{workflowId}"): {"name": "Taken over", "steps": []},
    ("PATCH", "/v2/workflows/{workflowId}"): {"name": "Taken over"},
    ("POST", "/v2/workflows/{workflowId}/duplicate"): {},
    ("POST", "/v1/workflows/{workflowId}/impact"): {"steps": []},
    ("POST", "/v1/workflows/{workflowId}/runs/move"): {"from": 1, "to": 2},
    ("POST", "/v2/workflows/{workflowId}/step/{stepId}/preview"): {},
    ("PUT", "/v2/workflows/{workflowId}/sync"): {"targetEnvironmentId": "01a1df28-0000-7000-8000-000000000001"},
    ("PUT", "/v2/layouts/{layoutId}"): {"name": "Taken over"},
    ("POST", "/v2/layouts/{layoutId}/duplicate"): {"name": "Taken over"},
    ("POST", "/v2/layouts/{layoutId}/preview"): {},
    ("POST", "/v2/layouts/{layoutId}/test-email"): {"to": "eve@example.com"},
    ("PUT", "/v1/integrations/{integrationId}"): {"name": "Taken over"},
    ("POST", "/v1/integrations/{integrationId}/test"): {"to": {"deviceTokens": ["mine"]}},
    ("POST", "/v1/integrations/{integrationIdentifier}/mobile-link"): {},
    ("PATCH", "/v1/channel-connections/{connectionIdentifier}"): {
        "workspace": {"id": "taken-over"},
        "auth": {"accessToken": "taken-over"},
    },
    ("PATCH", "/v1/channel-endpoints/{endpointIdentifier}"): {"endpoint": {"channelId": "taken-over"}},
    ("PATCH", "/v1/webhooks/endpoints/{endpointId}"): {"description": "Taken over"},
    ("POST", "/v1/webhooks/endpoints/{endpointId}/replay"): {"since": "2020-01-01T00:00:00.000Z"},
    ("PATCH", "/v1/environments/{environmentId}"): {"timezone": "Asia/Tokyo"},
    ("PATCH", "/v1/environment-variables/{variableKey}"): {"key": "TAKEN_OVER"},
    ("PUT", "/v1/environments/{environmentId}"): {"name": "Taken over"},
    ("POST", "/v2/environments/{targetEnvironmentId}/diff"): {},
    ("POST", "/v2/environments/{targetEnvironmentId}/publish"): {},
    ("PATCH", "/v1/environments/api-keys/{apiKeyId}"): {"name": "Taken over"},
    ("PATCH", "/v1/members/{memberId}"): {"role": "author"},
    ("POST", "/v1/runs/{notificationId}/answers"): {"stepId": "approval", "choice": "approve"},
}
QUERIES = {
    ("GET", "/v2/subscribers/{subscriberId}/notifications/count"): {"filters": "[{}]"},
    # It does not end unless it is refused.
    ("GET", "/v1/runs/stream"): {"status": "no-status"},
}
# Creates the topic in the caller's own environment, so it never responds with 404.
CREATES = ("POST", "/v2/topics/{topicKey}/subscriptions")
# Responds that there was nothing to cancel.
CANCELS = ("DELETE", "/v1/events/trigger/{transactionId}")


def addressed() -> Iterator[Operation]:
    for operation in OPERATIONS:
        # What the sessions of subscribers reach is in tests/inbox, what those of members reach in tests/members.
        if operation.is_for_subscribers or operation.is_for_members:
            continue
        # Links of e-mails name a message by a signed token: see tests/tracking.
        if operation.path.startswith("/t/"):
            continue
        if operation.path_kinds and (operation.method, operation.path) != CREATES:
            yield operation


def fill(path: str, values: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: values[match[1]], path)


@pytest.fixture
async def theirs(database: Database, vault: Vault, other_api: Api) -> dict[str, str]:
    """One resource of each kind in the other environment, by the name of its path parameter."""
    environment = other_api.environment
    subscriber = await make_subscriber(database, environment, "ada")
    workflow = await make_workflow(database, environment, key="welcome")
    texts = {"resourceId": "welcome", "resourceType": "workflow", "locale": "en_US", "content": {"a": "b"}}
    await other_api.patch("/v2/workflows/welcome", json={"isTranslationEnabled": True})
    await other_api.post("/v2/translations", json=texts)
    trigger = await make_trigger(database, environment, workflow=workflow, transaction="tx-theirs")
    notification = await make_notification(database, environment, trigger=trigger, subscriber=subscriber)
    job = await make_job(database, environment, notification=notification)
    message = await make_message(database, environment, job=job, channel=Channel.IN_APP)
    body = {"providerId": "fcm", "channel": "push", "active": True, "credentials": {"serviceAccount": "{}"}}
    integration = (await other_api.post("/v1/integrations", json=body)).json()
    await make_slack(other_api)
    await connect(other_api, identifier="acme", subscriberId="ada")
    await add_endpoint(other_api, identifier="general", connectionIdentifier="acme")
    await other_api.post("/v2/layouts", json={"layoutId": "letter", "name": "Letter"})
    await other_api.post("/v2/topics/news/subscriptions", json={"subscriberIds": ["ada"]})
    await other_api.post("/v1/segments", json={"key": "gold", "name": "Gold", "condition": True})
    schedule = {"identifier": "theirs", "name": "Theirs", "workflowId": "welcome", "to": "ada", "cron": "@daily"}
    await other_api.post("/v1/schedules", json=schedule)
    await other_api.post("/v2/contexts", json={"type": "tenant", "id": "acme", "data": {"name": "Acme"}})
    await other_api.post("/v1/suppressions", json={"channel": "email", "address": "ada@example.org"})
    # No server listens on the port.
    endpoint = (await other_api.post("/v1/webhooks/endpoints", json={"url": "http://127.0.0.1:9/"})).json()
    delivery = (await other_api.post(f"/v1/webhooks/endpoints/{endpoint['_id']}/test")).json()
    keys = (await other_api.get("/v1/environments/api-keys")).json()
    events = (await other_api.get("/v1/notifications")).json()
    elsewhere, _ = await database.transaction(
        lambda db: create_without_inboxes(db, name="Elsewhere", identifiers={}, vault=vault, now=NOW)
    )
    member, invitation = await database.transaction(lambda db: make_team(db, elsewhere))
    await database.transaction(lambda db: make_variable(db, elsewhere, vault))
    return {
        "subscriberId": "ada",
        "externalSubscriberId": "ada",
        "topicKey": "news",
        "identifier": "tk_news:si_ada",
        "segmentKey": "gold",
        "scheduleKey": "theirs",
        # Of another organization, as members are.
        "variableKey": "THEIR_KEY",
        "contextType": "tenant",
        "contextId": "acme",
        "transactionId": "tx-theirs",
        "workflowId": "welcome",
        "layoutId": "letter",
        "stepId": "in_app-1",
        "versionId": id_text(workflow.version_id),
        "actionType": "primary",
        "providerId": "fcm",
        "integrationId": integration["_id"],
        "messageId": message.text,
        "notificationId": events["data"][0]["_id"],
        "deadLetterId": id_text(job.id),
        "apiKeyId": keys[0]["_id"],
        "endpointId": endpoint["_id"],
        "connectionIdentifier": "acme",
        "integrationIdentifier": "slack",
        "endpointIdentifier": "general",
        "deliveryId": delivery["_id"],
        # Environments of the same organization may be changed by a key with the scope.
        "environmentId": id_text(elsewhere.id),
        "targetEnvironmentId": id_text(elsewhere.id),
        "channel": "email",
        "address": "ada@example.org",
        # Of another organization: members are those of all environments of theirs.
        "memberId": id_text(member.id),
        "invitationId": invitation.public_id,
        "resourceType": "workflow",
        "resourceId": "welcome",
        "locale": "en_US",
    }


async def make_team(db: Connection, environment: Environment) -> tuple[Member, Link]:
    """A member and an invitation of the organization of an environment."""
    person = NewMember(email=read_address(new_address()), name="Eve", password=None)
    member = await create_member(db, environment.organization_id, person, Access(role=Role.OWNER), NOW)
    manager = Manager.of(member, Author(actor=SERVICE))
    # Not yet over for the clock of the tests.
    link = await invite(db, manager, read_address(new_address()), Access(role=Role.VIEWER), Millis(NOW + 3650 * DAY))
    return member, link.record


async def make_variable(db: Connection, environment: Environment, vault: Vault) -> None:
    variable = EnvironmentVariable(
        organization_id=environment.organization_id,
        id=VariableId(new_id(NOW)),
        key="THEIR_KEY",
        is_secret=False,
        values={environment.id: "theirs"},
        created_at=NOW,
        updated_at=NOW,
    )
    await insert_variable(db, variable, vault)


async def everything(api: Api) -> list[str]:
    """Everything that can be read of an environment."""
    paths = [one.path for one in OPERATIONS if one.method == "GET" and not one.path_kinds and not one.is_stream]
    paths += ["/v2/subscribers/ada", "/v2/subscribers/ada/preferences", "/v2/topics/news/subscriptions"]
    paths += ["/v1/subscribers/ada/notifications/feed"]
    return [(await api.get(path)).text for path in paths if "health" not in path]


def anonymous(text: str, values: dict[str, str], path: str) -> str:
    """A response body without the names that were in the request itself."""
    text = text.replace(path, "PATH")
    for name, value in values.items():
        text = text.replace(value, f"<{name}>")
    return text


async def test_every_operation_with_a_path_parameter_responds_as_if_it_did_not_exist(
    api: Api, other_api: Api, theirs: dict[str, str]
) -> None:
    before = await everything(other_api)
    for operation in addressed():
        body = BODIES.get((operation.method, operation.path))
        assert (body is not None) is (operation.body_shape is not None), f"no body for {operation.path}"
        answers = []
        for values in (theirs, MISSING, MISSING | MALFORMED):
            path = fill(operation.path, values)
            query = QUERIES.get((operation.method, operation.path))
            response = await api.request(operation.method, path, json=body, params=query)
            names = {name: values[name] for name, _ in operation.path_kinds if name not in ("providerId", "actionType")}
            answers.append((response.status_code, anonymous(response.text, names, path)))

        expected = 200 if (operation.method, operation.path) == CANCELS else 404
        assert answers[0][0] == expected, f"{operation.method} {operation.path}: {answers[0]}"
        # A malformed id of a notification is refused before its subscriber is looked for.
        is_of_person = "subscriberId" in names and not {"notificationId", "messageId"}.isdisjoint(names)
        alike = answers[:2] if is_of_person else answers
        assert alike[0] == alike[1] == alike[-1]
    assert await everything(other_api) == before


async def test_lists_and_filters_return_nothing_of_other_environments(api: Api, theirs: dict[str, str]) -> None:
    for path in (
        "/v2/subscribers",
        "/v2/subscribers?subscriberId=ada",
        "/v2/topics",
        "/v1/segments",
        "/v1/schedules",
        "/v2/contexts",
        "/v2/contexts?search=acme",
        "/v1/messages",
        "/v1/messages?subscriberId=ada",
        "/v1/messages?transactionId=tx-theirs",
        "/v1/notifications",
        "/v1/notifications?subscriberIds=ada",
        "/v1/notifications?transactionId=tx-theirs",
        "/v1/suppressions",
        "/v1/channel-connections",
        "/v1/channel-connections?subscriberId=ada",
        "/v1/channel-endpoints",
        "/v1/channel-endpoints?connectionIdentifier=acme",
    ):
        response = await api.get(path)
        assert (response.status_code, response.json()["data"]) == (200, []), path
    for path in ("/v1/integrations", "/v1/integrations/active", "/v1/environments/api-keys"):
        assert theirs["integrationId"] not in (await api.get(path)).text
    for path in ("/v2/workflows", "/v2/workflows?query=welcome", "/v2/workflows?status=ACTIVE"):
        assert (await api.get(path)).json() == {"workflows": [], "totalCount": 0}


async def test_references_in_bodies_do_not_find_other_environments(
    api: Api, other_api: Api, theirs: dict[str, str]
) -> None:
    before = await everything(other_api)
    await api.post("/v2/subscribers", json={"subscriberId": "ada"})
    marked = await api.post(
        "/v1/subscribers/ada/messages/mark-as", json={"messageId": theirs["messageId"], "markAs": "read"}
    )
    preference = await api.patch(
        "/v2/subscribers/ada/preferences", json={"channels": {"email": False}, "workflowId": "welcome"}
    )
    me = (await other_api.get("/v1/environments/me")).json()
    integration = {"providerId": "fcm", "channel": "push", "_environmentId": me["_id"]}
    elsewhere = await api.post("/v1/integrations", json=integration)

    assert (marked.status_code, marked.json()) == (201, [])
    assert (preference.status_code, elsewhere.status_code) == (404, 404)
    assert await everything(other_api) == before


async def test_environments_may_use_the_same_identifiers(api: Api, other_api: Api) -> None:
    for one in (api, other_api):
        assert (await one.post("/v2/subscribers?failIfExists=true", json={"subscriberId": "x"})).status_code == 201
        assert (await one.post("/v2/topics?failIfExists=true", json={"key": "x"})).status_code == 201
        body = {"providerId": "sendgrid", "channel": "email", "identifier": "x"}
        assert (await one.post("/v1/integrations", json=body)).status_code == 201
