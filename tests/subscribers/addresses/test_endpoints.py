"""Channel endpoints through HTTP, on both databases."""

from typing import Any

import pytest

from clarion.db.port import Database
from clarion.db.query import sql
from clarion.subscribers.addresses.kinds import KINDS, find_endpoint_problems
from clarion.subscribers.addresses.model import MAX_ENDPOINTS, EndpointType, find_moved_secrets, mask_endpoint
from tests.subscribers.addresses.support import (
    CHAT,
    ENDPOINTS,
    add_endpoint,
    connect,
    create,
    endpoint,
    identifiers,
    make_slack,
    rows_of,
)
from tests.support import Api

HOOK = "https://hooks.slack.com/services/T1/B1/a-secret"
GOOD: dict[EndpointType, dict[str, Any]] = {
    EndpointType.SLACK_CHANNEL: {"channelId": "C1"},
    EndpointType.SLACK_USER: {"userId": "U1"},
    EndpointType.WEBHOOK: {"url": HOOK, "channel": "general"},
    EndpointType.PHONE: {"phoneNumber": "+441632960000"},
    EndpointType.MS_TEAMS_CHANNEL: {"teamId": "t", "channelId": "19:x@thread.tacv2"},
    EndpointType.MS_TEAMS_USER: {"userId": "u", "tenantId": "t"},
    EndpointType.TELEGRAM_CHAT: {"chatId": "-100"},
    EndpointType.WEBEX_ROOM: {"roomId": "r", "parentId": "p"},
    EndpointType.WEBEX_PERSON: {"personEmail": "ada@example.com"},
    EndpointType.LINE_USER: {"userId": "U1"},
    EndpointType.PAGERDUTY_SERVICE: {"routingKey": "a" * 32, "region": "eu"},
    EndpointType.OPSGENIE_INTEGRATION: {"apiKey": "01a1df28-0000-7000-8000-000000000000", "region": "us"},
    EndpointType.GRAFANA_ONCALL_INTEGRATION: {"url": HOOK, "authToken": "glsa"},
    EndpointType.TOOL_WEBHOOK: {"url": HOOK, "headers": {"X-Key": "secret"}, "method": "PUT"},
}
WRONG: list[tuple[EndpointType, dict[str, Any], str]] = [
    (EndpointType.SLACK_CHANNEL, {}, "endpoint.channelId"),
    (EndpointType.SLACK_CHANNEL, {"channelId": "C 1"}, "endpoint.channelId"),
    (EndpointType.WEBHOOK, {"url": "ftp://x"}, "endpoint.url"),
    (EndpointType.WEBHOOK, {"url": "javascript:alert(1)"}, "endpoint.url"),
    (EndpointType.PHONE, {"phoneNumber": "020 7946 0000"}, "endpoint.phoneNumber"),
    (EndpointType.WEBEX_PERSON, {}, "endpoint"),
    (EndpointType.WEBEX_PERSON, {"personId": "p", "personEmail": "ada@example.com"}, "endpoint"),
    (EndpointType.PAGERDUTY_SERVICE, {"routingKey": "short", "region": "eu"}, "endpoint.routingKey"),
    (EndpointType.OPSGENIE_INTEGRATION, {"apiKey": "x", "region": "us"}, "endpoint.apiKey"),
    (EndpointType.TOOL_WEBHOOK, {"url": HOOK, "method": "GET"}, "endpoint.method"),
    (EndpointType.TOOL_WEBHOOK, {"url": HOOK, "headers": {"X Y": "z"}}, "endpoint.headers.X Y"),
    (EndpointType.TOOL_WEBHOOK, {"url": HOOK, "headers": {"X": "a\r\nY: b"}}, "endpoint.headers.X"),
]


def test_every_type_has_an_address_that_fits() -> None:
    assert KINDS.keys() == GOOD.keys() == set(EndpointType)
    for kind, address in GOOD.items():
        assert find_endpoint_problems(kind, address) == {}, kind


@pytest.mark.parametrize("kind", EndpointType)
def test_members_that_a_type_does_not_have_are_refused(kind: EndpointType) -> None:
    assert "endpoint.extra" in find_endpoint_problems(kind, GOOD[kind] | {"extra": 1})


@pytest.mark.parametrize(("kind", "address", "path"), WRONG)
def test_addresses_that_do_not_fit_are_refused(kind: EndpointType, address: dict[str, Any], path: str) -> None:
    assert path in find_endpoint_problems(kind, address)


def test_secrets_of_addresses_are_masked() -> None:
    shown = str([mask_endpoint(one) for one in GOOD.values()])

    assert "secret" not in shown
    assert "glsa" not in shown
    assert "a" * 32 not in shown
    assert "01a1df28" not in shown
    assert "https://hooks.slack.com/…" in shown


async def test_an_endpoint_is_retrieved_as_it_was_created(api: Api) -> None:
    await make_slack(api, "ada")
    await connect(api, identifier="acme", subscriberId="ada")

    made = await add_endpoint(
        api, identifier="general", connectionIdentifier="acme", context={"tenant": "acme", "app": "shop"}
    )

    assert (await api.get(f"{ENDPOINTS}/general")).json() == made
    assert made == {
        "identifier": "general",
        "channel": "chat",
        "providerId": "slack",
        "integrationIdentifier": "slack",
        "connectionIdentifier": "acme",
        "subscriberId": "ada",
        "contextKeys": ["app:shop", "tenant:acme"],
        "type": "slack_channel",
        "endpoint": {"channelId": "C1"},
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-01T00:00:00.000Z",
    }
    assert (await add_endpoint(api))["identifier"].startswith("chendp_")


async def test_addresses_are_stored_sealed(api: Api, database: Database) -> None:
    await make_slack(api, "ada")
    await add_endpoint(api, type="webhook", endpoint={"url": HOOK})

    (row,) = await rows_of(database, api, "channel_endpoints")

    assert "hooks.slack" not in row["endpoint"]


@pytest.mark.parametrize(
    ("fields", "status", "path"),
    [
        ({"endpoint": {"channelId": "C1", "extra": True}}, 422, "endpoint.extra"),
        ({"type": "slack_user"}, 422, "endpoint.userId"),
        ({"type": "phone", "endpoint": GOOD[EndpointType.PHONE]}, 422, "integrationIdentifier"),
        ({"type": "webex_room", "endpoint": GOOD[EndpointType.WEBEX_ROOM]}, 422, "integrationIdentifier"),
        ({"type": "no_type"}, 422, "type"),
        ({"connectionIdentifier": "of-chat"}, 422, "connectionIdentifier"),
        ({"connectionIdentifier": "none"}, 404, None),
        ({"subscriberId": "bob"}, 404, None),
        ({"integrationIdentifier": "none"}, 404, None),
    ],
)
async def test_what_is_wrong_with_an_endpoint_is_said(
    api: Api, fields: dict[str, Any], status: int, path: str | None
) -> None:
    await make_slack(api, "ada")
    await create(api, "/v1/integrations", CHAT)
    await connect(api, identifier="of-chat", subscriberId="ada", integrationIdentifier="chat")

    refused = await api.post(ENDPOINTS, json=endpoint(**fields))

    assert refused.status_code == status, refused.text
    assert path is None or path in refused.json()["errors"]


async def test_a_subscriber_is_made_only_on_demand_and_never_changed(api: Api) -> None:
    await make_slack(api)
    await create(api, "/v2/subscribers", {"subscriberId": "ada", "firstName": "Ada"})

    await add_endpoint(api, subscriberId="ada", createSubscriberIfMissing=True)
    await add_endpoint(api, subscriberId="bob", createSubscriberIfMissing=True)

    assert (await api.get("/v2/subscribers/ada")).json()["firstName"] == "Ada"
    assert (await api.get("/v2/subscribers/bob")).json()["firstName"] is None


async def test_a_person_has_a_bounded_number_of_endpoints(api: Api) -> None:
    await make_slack(api, "ada")
    for number in range(MAX_ENDPOINTS):
        await add_endpoint(api, identifier=f"e{number}")

    refused = await api.post(ENDPOINTS, json=endpoint())
    taken = await api.post(
        ENDPOINTS, json=endpoint(identifier="e1", subscriberId="bob", createSubscriberIfMissing=True)
    )

    assert (refused.status_code, taken.status_code) == (422, 422)
    assert "delete one first" in refused.text
    assert "identifier" in taken.json()["errors"]


async def test_a_patch_replaces_the_address_and_keeps_what_is_sent_masked(api: Api) -> None:
    await make_slack(api, "ada")
    made = await add_endpoint(api, identifier="hook", type="webhook", endpoint={"url": HOOK})

    shown = made["endpoint"] | {"channel": "general"}
    changed = await api.patch(f"{ENDPOINTS}/hook", json={"endpoint": shown})
    wrong = await api.patch(f"{ENDPOINTS}/hook", json={"endpoint": {"channelId": "C1"}})
    missing = await api.patch(f"{ENDPOINTS}/none", json={"endpoint": {"url": HOOK}})

    assert changed.json()["endpoint"] == {"url": "https://hooks.slack.com/…", "channel": "general"}
    assert (wrong.status_code, missing.status_code) == (422, 404)


def test_masked_secrets_do_not_go_to_another_url() -> None:
    for kind, secret in (
        (EndpointType.GRAFANA_ONCALL_INTEGRATION, "authToken"),
        (EndpointType.TOOL_WEBHOOK, "headers.X-Key"),
    ):
        stored = GOOD[kind]
        elsewhere = {"url": "https://elsewhere.example.com/x"}
        assert find_moved_secrets(mask_endpoint(stored), stored) == []
        assert find_moved_secrets(mask_endpoint(stored) | {"url": HOOK}, stored) == []
        assert find_moved_secrets(stored | elsewhere, stored) == []
        assert find_moved_secrets(mask_endpoint(stored) | elsewhere, stored) == [secret]


async def test_a_personal_connection_is_for_its_person_alone(api: Api) -> None:
    await make_slack(api, "ada", "bob")
    await connect(api, identifier="acme", subscriberId="ada")

    refused = await api.post(ENDPOINTS, json=endpoint(subscriberId="bob", connectionIdentifier="acme"))

    assert refused.status_code == 422
    assert "connectionIdentifier" in refused.json()["errors"]


async def test_a_deleted_endpoint_is_gone(api: Api) -> None:
    await make_slack(api, "ada")
    await add_endpoint(api, identifier="general")

    assert (await api.delete(f"{ENDPOINTS}/general")).status_code == 204
    assert (await api.get(f"{ENDPOINTS}/general")).status_code == 404
    assert (await api.delete(f"{ENDPOINTS}/general")).status_code == 404


async def test_lists_are_narrowed_by_each_filter(api: Api) -> None:
    await make_slack(api, "ada", "bob")
    await create(api, "/v1/integrations", CHAT)
    await connect(api, identifier="acme", subscriberId="ada")
    await add_endpoint(api, identifier="one", connectionIdentifier="acme")
    await add_endpoint(api, identifier="two", subscriberId="bob", context={"tenant": "acme"})
    await add_endpoint(
        api, identifier="three", integrationIdentifier="chat", type="webhook", endpoint={"url": "https://example.com/x"}
    )

    for filters, expected in (
        ({}, ["three", "two", "one"]),
        ({"subscriberId": "bob"}, ["two"]),
        ({"subscriberId": "nobody"}, []),
        ({"providerId": "chat-webhook"}, ["three"]),
        ({"channel": "chat", "integrationIdentifier": "slack"}, ["two", "one"]),
        ({"connectionIdentifier": "acme"}, ["one"]),
        ({"connectionIdentifier": "none"}, []),
        ({"contextKeys": "tenant:acme"}, ["two"]),
        ({"contextKeys": ""}, ["three", "one"]),
        ({"orderBy": "updatedAt", "limit": 2}, ["three", "two"]),
    ):
        assert await identifiers(api, ENDPOINTS, **filters) == expected, filters


async def test_an_erased_person_leaves_no_connection_to_endpoints_of_others(api: Api, database: Database) -> None:
    await make_slack(api, "ada", "bob")
    await connect(api, identifier="adas", subscriberId="ada")
    await add_endpoint(api, identifier="bobs", subscriberId="bob")
    # As earlier versions let it be.
    lend = sql("""
        UPDATE channel_endpoints SET connection_id = (
            SELECT id FROM channel_connections WHERE environment_id = :environment_id AND identifier = 'adas'
        ) WHERE environment_id = :environment_id
    """)
    await database.transaction(lambda db: db.execute(lend, environment_id=api.environment.id))

    await api.delete("/v2/subscribers/ada")

    (row,) = await rows_of(database, api, "channel_endpoints")
    assert row["connection_id"] is None
