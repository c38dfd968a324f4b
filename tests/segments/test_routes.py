"""Segments through HTTP, on both databases."""

from typing import Any

import pytest

from clarion.clock import ManualClock
from clarion.segments.model import MAX_SEGMENTS
from clarion.vocabulary import Scope
from tests.segments.support import GOLD, list_members, make_people, make_segment
from tests.support import Api, MakeApi


async def test_a_new_segment_is_retrieved_as_created(api: Api) -> None:
    made = await make_segment(api, name="Gold members", description="Who pays most")

    assert (await api.get("/v1/segments/gold")).json() == made
    assert made | {"_id": "x"} == {
        "_id": "x",
        "key": "gold",
        "name": "Gold members",
        "description": "Who pays most",
        "condition": GOLD,
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-01T00:00:00.000Z",
    }


async def test_a_segment_exists_once(api: Api) -> None:
    await make_segment(api)

    again = await api.post("/v1/segments", json={"key": "gold", "name": "Other", "condition": True})

    assert again.status_code == 409
    assert (await api.get("/v1/segments/gold")).json()["condition"] == GOLD


async def test_only_the_given_fields_are_changed(api: Api, clock: ManualClock) -> None:
    made = await make_segment(api, description="Who pays most")
    clock.move(1000)

    changed = await api.patch("/v1/segments/gold", json={"description": None, "condition": False})

    expected = made | {"condition": False, "updatedAt": "2026-01-01T00:00:01.000Z"}
    assert changed.json() == {name: value for name, value in expected.items() if name != "description"}
    assert (await api.get("/v1/segments/gold")).json() == changed.json()
    assert (await api.patch("/v1/segments/gold", json={})).status_code == 400


async def test_a_deleted_segment_is_gone(api: Api) -> None:
    await make_segment(api)

    assert (await api.delete("/v1/segments/gold")).status_code == 204
    for path in ("/v1/segments/gold", "/v1/segments/gold/preview"):
        assert (await api.get(path)).status_code == 404
    assert (await api.delete("/v1/segments/gold")).status_code == 404
    assert (await api.patch("/v1/segments/gold", json={"name": "Gold"})).status_code == 404


async def test_lists_are_searched_by_key_and_name(api: Api) -> None:
    await make_segment(api, key="gold", name="Paying most")
    await make_segment(api, key="silver", name="Paying")

    async def find(search: str) -> list[str]:
        return [one["key"] for one in (await api.get("/v1/segments", params={"search": search})).json()["data"]]

    assert [await find(text) for text in ("PAYING", "most", "silv", "x")] == [
        ["silver", "gold"],
        ["gold"],
        ["silver"],
        [],
    ]


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ({"==": [{"var": "plan"}, "gold"]}, "names the variable 'plan', which is none of the person"),
        ({"==": [{"var": "email"}, "a"]}, "did you mean 'subscriber.email'?"),
        ({"==": [{"var": "subscriber.emial"}, "a"]}, "unknown field 'emial' of the person"),
        ({"==": [{"var": {"cat": ["a"]}}, "a"]}, "has the operator 'cat'"),
        ({"==": [{"var": {"max": [1]}}, "a"]}, "names the variable ''"),
        ({"==": [{"var": ["subscriber.locale", {"var": "payload.x"}]}, "a"]}, "names the variable 'payload.x'"),
        ({"some": [{"var": "payload.list"}, {"var": ""}]}, "names the variable 'payload.list'"),
        ({"map": [[1], {"var": ""}]}, "which takes too much work here"),
        ({"equals": [1, 1]}, "has the unknown operator 'equals'"),
        ({"in": ["x" * 9000, {"var": "subscriber.email"}]}, "must not have more than 8192 bytes of JSON"),
        ({"or": [True] * 300}, "200 parts"),
    ],
)
async def test_conditions_that_cannot_be_decided_are_refused(api: Api, condition: Any, problem: str) -> None:
    body = {"key": "gold", "name": "Gold", "condition": condition}

    refused = await api.post("/v1/segments", json=body)
    preview = await api.post("/v1/segments/preview", json={"condition": condition})

    for response in (refused, preview):
        assert response.status_code == 422
        assert problem in response.text
    assert (await api.get("/v1/segments/gold")).status_code == 404


async def test_an_environment_has_a_limited_number_of_segments(api: Api) -> None:
    for number in range(MAX_SEGMENTS):
        await make_segment(api, True, key=f"s{number}")

    refused = await api.post("/v1/segments", json={"key": "more", "name": "More", "condition": True})

    assert refused.status_code == 422
    assert f"more than {MAX_SEGMENTS} segments" in refused.text


async def test_a_preview_counts_those_who_are_in_the_segment_now(api: Api) -> None:
    await make_people(api, ada={"data": {"plan": "gold"}}, bob={"data": {"plan": "free"}})
    await make_segment(api)

    before = (await api.get("/v1/segments/gold/preview")).json()
    await api.patch("/v2/subscribers/bob", json={"data": {"plan": "gold"}})
    after = (await api.get("/v1/segments/gold/preview")).json()

    assert (before["count"], [one["subscriberId"] for one in before["sample"]], before["next"]) == (1, ["ada"], None)
    assert (after["count"], [one["subscriberId"] for one in after["sample"]]) == (2, ["ada", "bob"])


async def test_a_preview_goes_on_behind_a_person(api: Api) -> None:
    await make_people(api, ada={}, bob={}, cyd={})
    everybody = (await api.post("/v1/segments/preview", json={"condition": True})).json()["sample"]
    await make_segment(api, True)

    behind = await api.post("/v1/segments/preview", json={"condition": True, "after": everybody[0]["_id"]})
    saved = await api.get("/v1/segments/gold/preview", params={"after": everybody[1]["_id"]})

    assert (behind.json()["count"], saved.json()["count"]) == (2, 1)


async def test_conditions_see_topics_channels_and_dates(api: Api, clock: ManualClock) -> None:
    await make_people(api, ada={"email": "ada@example.com"}, bob={"phone": "+4930123456"}, cyd={})
    await api.post("/v2/topics/news/subscriptions", json={"subscriberIds": ["ada", "cyd"]})
    fcm = {"providerId": "fcm", "channel": "push", "active": True, "credentials": {"serviceAccount": "{}"}}
    await api.post("/v1/integrations", json=fcm)
    for key, tokens in (("cyd", ["token"]), ("bob", [])):
        body = {"providerId": "fcm", "credentials": {"deviceTokens": tokens}}
        assert (await api.put(f"/v1/subscribers/{key}/credentials", json=body)).status_code == 200
    clock.move(2 * 86_400_000)
    await make_people(api, dan={})
    topics, channels, created = ({"var": f"subscriber.{one}"} for one in ("topics", "channels", "createdAt"))

    assert await list_members(api, {"in": ["news", topics]}) == ["ada", "cyd"]
    assert await list_members(api, {"isEmpty": topics}) == ["bob", "dan"]
    assert await list_members(api, {"in": ["email", channels]}) == ["ada"]
    assert await list_members(api, {"containsAny": [channels, ["sms", "push"]]}) == ["bob", "cyd"]
    assert await list_members(api, {"withinLast": [created, {"amount": 1, "unit": "days"}]}) == ["dan"]
    assert await list_members(api, {"<": [created, "2026-01-02T00:00:00Z"]}) == ["ada", "bob", "cyd"]
    assert await list_members(api, {"some": [topics, {"==": [{"var": ""}, "news"]}]}) == ["ada", "cyd"]


async def test_who_is_in_a_segment_is_for_those_who_may_read_people_and_topics(api: Api, make_api: MakeApi) -> None:
    await make_segment(api)
    scopes = [Scope.SEGMENTS_READ, Scope.SUBSCRIBERS_READ, Scope.TOPICS_READ]
    for missing in scopes:
        caller = await make_api(scopes={*scopes} - {missing})
        assert (await caller.get("/v1/segments/gold/preview")).status_code == 403
        assert (await caller.post("/v1/segments/preview", json={"condition": True})).status_code == 403
    reader = await make_api(scopes=set(scopes))

    assert (await reader.get("/v1/segments/gold/preview")).status_code == 200
    assert (await reader.get("/v1/segments/gold")).status_code == 200
    for response in (
        await reader.post("/v1/segments", json={"key": "x", "name": "x", "condition": True}),
        await reader.patch("/v1/segments/gold", json={"name": "x"}),
        await reader.delete("/v1/segments/gold"),
    ):
        assert response.status_code == 403


async def test_another_environment_sees_neither_segments_nor_people(api: Api, other_api: Api) -> None:
    await make_people(other_api, ada={"data": {"plan": "gold"}})
    await make_segment(other_api)
    theirs = (await other_api.post("/v1/segments/preview", json={"condition": GOLD})).json()

    assert theirs["count"] == 1
    assert (await api.get("/v1/segments/gold")).status_code == 404
    assert (await api.get("/v1/segments")).json()["data"] == []
    assert (await api.post("/v1/segments/preview", json={"condition": GOLD})).json()["count"] == 0
    assert (await api.post("/v1/segments", json={"key": "gold", "name": "x", "condition": True})).status_code == 201


async def test_changes_are_in_the_audit_log(api: Api) -> None:
    await make_segment(api)
    await api.patch("/v1/segments/gold", json={"condition": True})
    await api.delete("/v1/segments/gold")

    entries = (await api.get("/v1/audit-log", params={"targetType": "segment"})).json()["data"]

    assert [one["action"] for one in entries] == ["segment.delete", "segment.update", "segment.create"]
    assert (entries[1]["before"], entries[1]["after"]) == ({"condition": GOLD}, {"condition": True})
