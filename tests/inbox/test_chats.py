"""Chats of a session's subscriber: one's own alone, in the context of the session, against a vendor on loopback."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from clarion.clock import ManualClock
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.egress import EgressGuard
from clarion.settings.model import Settings
from tests.inbox.conftest import MakePerson, Person
from tests.inbox.test_sessions import sign
from tests.providers.contract.vendor import Vendor, play
from tests.subscribers.addresses.oauth import come_back
from tests.subscribers.addresses.support import CONNECTIONS, add_endpoint, connect, make_slack
from tests.subscribers.addresses.vendors import Slack, query_of
from tests.support import Api

CONNECT = "/v1/inbox/channel-connections/oauth"
LINK = "/v1/inbox/channel-endpoints/oauth"
MINE = "/v1/inbox/channel-connections"
PLACES = "/v1/inbox/channel-endpoints"
ACME = ("tenant:acme",)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, public_url="https://clarion.example.com")


@pytest.fixture
async def vendor() -> AsyncIterator[Vendor]:
    async with play(Slack().answer) as vendor:
        yield vendor


@pytest.fixture
async def gateway(clock: ManualClock, vendor: Vendor) -> AsyncIterator[ProviderGateway]:
    guard = EgressGuard(("127.0.0.0/8",))
    async with ProviderGateway(guard, clock=clock, rewrite_url=vendor.rewrite_url) as entered:
        yield entered


def wish(person: Person, **fields: Any) -> dict[str, Any]:
    """What the button of the published client sends."""
    identifier = f"chconn-slack-default-{person.key}"
    return {
        "integrationIdentifier": "slack",
        "connectionIdentifier": identifier,
        "subscriberId": person.key,
        "connectionMode": "subscriber",
        **fields,
    }


async def finish(person: Person, url: str) -> int:
    return (await come_back(person, query_of(url)["state"])).status_code


async def test_the_button_connects_asks_and_disconnects(ada: Person, api: Api) -> None:
    await make_slack(api)
    path = f"{MINE}/chconn-slack-default-ada"

    before = await ada.get(path)
    begun = await ada.post(CONNECT, json=wish(ada))
    status = await finish(ada, begun.json()["data"]["url"])
    found = (await ada.get(path, params={"connectionMode": "subscriber"})).json()
    listed = (await ada.get(MINE, params={"subscriberId": "ada", "contextKeys": ""})).json()
    places = (await ada.get(PLACES, params={"integrationIdentifier": "slack"})).json()
    deleted = await ada.delete(path)

    assert (before.status_code, begun.status_code, status, deleted.status_code) == (404, 201, 200, 204)
    assert found["workspace"] == {"id": "T1", "name": "Acme"} == found["data"]["workspace"]
    assert "auth" not in found
    assert [one["identifier"] for one in listed["data"]] == ["chconn-slack-default-ada"]
    assert [one["type"] for one in places["data"]] == ["slack_user"]
    assert places["data"][0].keys() == {"identifier", "type"}
    assert (await ada.get(path)).status_code == 404
    assert (await ada.delete(f"{PLACES}/{places['data'][0]['identifier']}")).status_code == 204


async def test_the_subscriber_is_that_of_the_session_whoever_is_named(
    ada: Person, make_person: MakePerson, api: Api
) -> None:
    await make_slack(api)
    await make_person("bob")

    begun = await ada.post(CONNECT, json=wish(ada, subscriberId="bob"))
    await finish(ada, begun.json()["data"]["url"])

    assert "subscriberId" in begun.headers["Clarion-Warnings"]
    assert (await api.get(f"{CONNECTIONS}/chconn-slack-default-ada")).json()["subscriberId"] == "ada"


async def test_what_belongs_to_others_is_not_found(ada: Person, make_person: MakePerson, api: Api) -> None:
    await make_slack(api)
    await make_person("bob")
    await connect(api, identifier="bobs", subscriberId="bob")
    await connect(api, identifier="adas-acme", subscriberId="ada", context={"tenant": "acme"})
    await add_endpoint(api, identifier="bobs-place", subscriberId="bob")
    await add_endpoint(api, identifier="acme-place", context={"tenant": "acme"})

    for name in ("bobs", "adas-acme", "nothing"):
        assert (await ada.get(f"{MINE}/{name}")).status_code == 404
        assert (await ada.delete(f"{MINE}/{name}")).status_code == 404
        assert (await ada.post(CONNECT, json=wish(ada, connectionIdentifier="bobs"))).status_code == 422
    for name in ("bobs-place", "acme-place", "nothing"):
        assert (await ada.delete(f"{PLACES}/{name}")).status_code == 404
    for query in ({}, {"subscriberId": "bob"}, {"contextKeys": "tenant:acme"}, {"connectionMode": "shared"}):
        assert (await ada.get(MINE, params=query)).json()["data"] == []
        assert (await ada.get(PLACES, params=query if "connectionMode" not in query else {})).json()["data"] == []


async def test_shared_connections_of_the_context_are_seen_and_ended_by_proven_sessions_alone(
    make_person: MakePerson, api: Api
) -> None:
    await make_slack(api)
    await connect(api, identifier="shared", context={"tenant": "acme"})
    proven, unproven = [await make_person("ada", context_keys=ACME, is_proven=one) for one in (True, False)]

    assert (await unproven.get(f"{MINE}/shared")).status_code == 200
    assert (await unproven.get(f"{MINE}/shared", params={"connectionMode": "subscriber"})).status_code == 404
    assert (await unproven.delete(f"{MINE}/shared")).status_code == 422
    assert (await proven.delete(f"{MINE}/shared")).status_code == 204


async def test_a_shared_connection_needs_a_context_and_its_proof(make_person: MakePerson, api: Api) -> None:
    await make_slack(api)
    plain, proven = await make_person("ada"), await make_person("ada", context_keys=ACME)
    unproven = await make_person("ada", context_keys=ACME, is_proven=False)
    shared, context = {"connectionMode": "shared", "connectionIdentifier": "acme"}, {"context": {"tenant": "acme"}}

    assert (await plain.post(CONNECT, json=wish(plain, **shared))).status_code == 422
    assert (await proven.post(CONNECT, json=wish(proven, **shared))).status_code == 201
    refused = await unproven.post(CONNECT, json=wish(unproven, **shared))
    assert "contextHash" in refused.json()["errors"]
    proof = context | {"contextHash": sign(api.key, '{"tenant":"acme"}')}
    assert (await unproven.post(CONNECT, json=wish(unproven, **shared, **proof))).status_code == 201
    wrong = context | {"contextHash": sign(api.key, '{"tenant":"other"}')}
    assert (await unproven.post(CONNECT, json=wish(unproven, **shared, **wrong))).status_code == 422


async def test_the_context_is_that_of_the_session(make_person: MakePerson, api: Api) -> None:
    await make_slack(api)
    person = await make_person("ada", context_keys=ACME)

    other = await person.post(LINK, json={"integrationIdentifier": "slack", "context": {"tenant": "other"}})
    own = await person.post(LINK, json={"integrationIdentifier": "slack", "context": {"tenant": "acme"}})

    assert (other.status_code, own.status_code) == (422, 201)
    assert "context" in other.json()["errors"]


async def test_a_session_without_proof_only_adds(make_person: MakePerson, api: Api) -> None:
    await make_slack(api)
    stranger = await make_person("ada", is_proven=False)
    path = f"{MINE}/chconn-slack-default-ada"

    early = await stranger.post(CONNECT, json=wish(stranger))
    late = await stranger.post(CONNECT, json=wish(stranger))
    link = await stranger.post(LINK, json={"integrationIdentifier": "slack"})
    added = await finish(stranger, early.json()["data"]["url"])
    answers = [await finish(stranger, one.json()["data"]["url"]) for one in (late, link)]
    again = await stranger.post(CONNECT, json=wish(stranger))
    (place,) = (await stranger.get(PLACES)).json()["data"]
    ended = [await stranger.delete(one) for one in (path, f"{PLACES}/{place['identifier']}")]

    assert (added, answers) == (200, [400, 400])
    assert "connectionIdentifier" in again.json()["errors"]
    assert [one.status_code for one in (again, *ended)] == [422] * 3
    assert (await stranger.get(path)).status_code == 200


async def test_an_integration_with_hmac_needs_proof_of_the_person(make_person: MakePerson, api: Api) -> None:
    await make_slack(api)
    (slack,) = [one for one in (await api.get("/v1/integrations")).json() if one["identifier"] == "slack"]
    await api.put(f"/v1/integrations/{slack['_id']}", json={"credentials": slack["credentials"] | {"hmac": True}})
    proof = {"context": {"tenant": "acme"}, "contextHash": sign(api.key, '{"tenant":"acme"}')}

    for is_proven, status in ((False, 422), (True, 201)):
        plain = await make_person("ada", is_proven=is_proven)
        of_acme = await make_person("ada", context_keys=ACME, is_proven=is_proven)
        shared = wish(of_acme, connectionMode="shared", connectionIdentifier="acme", **proof)
        answers = [
            await plain.post(CONNECT, json=wish(plain)),
            await plain.post(LINK, json={"integrationIdentifier": "slack"}),
            await of_acme.post(CONNECT, json=wish(of_acme, connectionIdentifier="own", **proof)),
            await of_acme.post(CONNECT, json=shared),
        ]
        assert [one.status_code for one in answers] == [status] * 4, answers[0].text


async def test_the_hash_of_a_subscriber_is_no_hash_of_a_context(make_person: MakePerson, api: Api) -> None:
    await make_slack(api, '{"tenant":"acme"}')
    person = await make_person("ada", context_keys=ACME, is_proven=False)
    shared = wish(person, connectionMode="shared", connectionIdentifier="acme", context={"tenant": "acme"})

    taken = await person.post(CONNECT, json=shared | {"contextHash": sign(api.key, '{"tenant":"acme"}')})
    right = await person.post(CONNECT, json=shared | {"contextHash": sign(api.key, 'context\n{"tenant":"acme"}')})

    assert (taken.status_code, right.status_code) == (422, 201)
