"""Channel credentials through HTTP, on both databases."""

import asyncio
from typing import Any

import pytest

from tests.support import Api

GRAFANA = {"alertUid": "u", "title": "t", "imageUrl": "https://i", "state": "ok", "externalUrl": "https://e"}


async def make_integration(api: Api, provider: str = "fcm", channel: str = "push", **more: Any) -> dict[str, Any]:
    credentials = {"fcm": {"serviceAccount": "{}"}, "expo": {"apiKey": "k"}}.get(provider, {})
    body = {"providerId": provider, "channel": channel, "active": True, "credentials": credentials} | more
    response = await api.post("/v1/integrations", json=body)
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


@pytest.fixture
async def ada(api: Api) -> None:
    await api.post("/v2/subscribers", json={"subscriberId": "ada"})


async def change(
    api: Api, method: str = "PATCH", provider: str = "fcm", identifier: str | None = None, **given: Any
) -> Any:
    body: dict[str, Any] = {"providerId": provider, "credentials": given}
    if identifier is not None:
        body["integrationIdentifier"] = identifier
    return await api.request(method, "/v1/subscribers/ada/credentials", json=body)


@pytest.mark.usefixtures("ada")
async def test_credentials_are_appended_not_replaced(api: Api) -> None:
    integration = await make_integration(api, identifier="main")
    await change(api, deviceTokens=["a", "b"])
    await change(api, webhookUrl="https://hook")

    response = await change(api, deviceTokens=["b", "c"], channel="x")

    assert response.status_code == 200
    assert response.json()["channels"] == [
        {
            "providerId": "fcm",
            "integrationIdentifier": "main",
            "credentials": {"deviceTokens": ["a", "b", "c"], "webhookUrl": "https://hook", "channel": "x"},
            "_integrationId": integration["_id"],
        }
    ]


@pytest.mark.usefixtures("ada")
async def test_all_eight_members_are_kept(api: Api) -> None:
    await make_integration(api, "grafana-on-call", "chat")
    given: dict[str, Any] = {**GRAFANA, "webhookUrl": "https://w", "channel": "c", "deviceTokens": ["d"]}

    response = await change(api, provider="grafana-on-call", **given)

    assert response.json()["channels"][0]["credentials"] == given


@pytest.mark.usefixtures("ada")
async def test_put_replaces_and_delete_removes(api: Api) -> None:
    await make_integration(api)
    await change(api, deviceTokens=["a"], title="t")
    replaced = await change(api, "PUT", deviceTokens=["z", "z"])
    deleted = await api.delete("/v1/subscribers/ada/credentials/fcm")
    nothing = await api.delete("/v1/subscribers/ada/credentials/fcm")

    assert replaced.json()["channels"][0]["credentials"] == {"deviceTokens": ["z"]}
    assert (deleted.status_code, nothing.status_code, deleted.content) == (204, 204, b"")
    assert (await api.get("/v2/subscribers/ada")).json()["channels"] == []


@pytest.mark.usefixtures("ada")
async def test_the_named_integration_or_the_newest_active_one_is_meant(api: Api) -> None:
    first = await make_integration(api, identifier="first")
    second = await make_integration(api, identifier="second")
    await make_integration(api, identifier="asleep", active=False)

    newest = (await change(api, deviceTokens=["n"])).json()["channels"]
    named = (await change(api, identifier="first", deviceTokens=["f"])).json()["channels"]

    assert [one["_integrationId"] for one in newest] == [second["_id"]]
    assert {one["_integrationId"] for one in named} == {first["_id"], second["_id"]}


@pytest.mark.usefixtures("ada")
async def test_without_an_active_integration_the_way_out_is_named(api: Api, other_api: Api) -> None:
    await make_integration(other_api, identifier="theirs")

    none = await change(api, deviceTokens=["x"])
    await make_integration(api, identifier="mine")
    unknown = await change(api, identifier="theirs", deviceTokens=["x"])

    assert (none.status_code, list(none.json()["errors"])) == (422, ["providerId"])
    assert (unknown.status_code, list(unknown.json()["errors"])) == (422, ["integrationIdentifier"])


@pytest.mark.usefixtures("ada")
async def test_a_hundred_tokens_are_the_most(api: Api) -> None:
    await make_integration(api)
    full = await change(api, deviceTokens=[str(n) for n in range(100)])
    over = await change(api, deviceTokens=["one more"])
    at_once = await change(api, "PUT", deviceTokens=[str(n) for n in range(101)])

    assert full.status_code == 200
    assert list(over.json()["errors"]) == ["credentials.deviceTokens"]
    assert list(at_once.json()["errors"]) == ["credentials.deviceTokens"]


@pytest.mark.usefixtures("ada")
async def test_bad_bodies_are_refused_by_field(api: Api) -> None:
    await make_integration(api)
    body = {"providerId": "pigeon", "credentials": {"deviceTokens": ["a", 5], "title": 7}}
    response = await api.patch("/v1/subscribers/ada/credentials", json=body)
    missing = await api.patch("/v1/subscribers/ada/credentials", json={})
    # Only sent by the service, never accepted by it.
    webhook = await change(api, provider="chat-webhook", webhookUrl="https://x")

    assert set(response.json()["errors"]) == {"providerId", "credentials.deviceTokens.1", "credentials.title"}
    assert set(missing.json()["errors"]) == {"providerId", "credentials"}
    assert list(webhook.json()["errors"]) == ["providerId"]


@pytest.mark.usefixtures("ada")
async def test_concurrent_changes_lose_no_token(api: Api) -> None:
    await make_integration(api)
    await make_integration(api, "expo")

    answers = await asyncio.gather(
        *(change(api, provider=("fcm", "expo")[number % 2], deviceTokens=[str(number)]) for number in range(40))
    )

    channels = (await api.get("/v2/subscribers/ada")).json()["channels"]
    tokens = [token for one in channels for token in one["credentials"]["deviceTokens"]]
    assert {one.status_code for one in answers} == {200}
    assert len(channels) == 2
    assert sorted(tokens, key=int) == [str(number) for number in range(40)]


@pytest.mark.usefixtures("ada")
async def test_entries_of_a_deleted_integration_are_not_shown(api: Api) -> None:
    integration = await make_integration(api)
    await change(api, deviceTokens=["a"])

    await api.delete(f"/v1/integrations/{integration['_id']}")

    assert (await api.get("/v2/subscribers/ada")).json()["channels"] == []
