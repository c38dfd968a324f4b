"""Dead letters one by one and in groups: counted, shown, redriven and discarded."""

from typing import Any

import pytest

from clarion.ids import JobId
from clarion.sending.dead_letters.model import count_reasons, reason_of
from clarion.vocabulary import Scope
from tests.engine.providers import ADA, EMAIL, account, trigger_many
from tests.engine.support import World, details
from tests.sending.dead_letters.test_routes import dead_letters, redrive, world
from tests.support import Api, MakeApi

__all__ = ["world"]


async def counts(world: World, group_by: str, **query: Any) -> dict[str, int]:
    response = await world.api.get("/v1/dead-letters/counts", params={"groupBy": group_by, **query})
    assert response.status_code == 200, response.text
    found = response.json()
    assert (found["groupBy"], found["totalCapped"], found["hasMoreGroups"]) == (group_by, False, False)
    return {one["value"]: one["count"] for one in found["groups"]}


async def fail(world: World, *, key: str = "welcome", people: int = 2, status: int = 400) -> None:
    """Give up messages of a workflow because their provider refuses them."""
    async with account(world, f"{key}-{status}") as one:
        one.break_down(status)
        await world.make_workflow(EMAIL, key=key)
        await world.trigger([{"subscriberId": f"p{n}", "email": f"p{n}@example.com"} for n in range(people)], name=key)
        await world.work()
    await world.api.delete(f"/v1/integrations/{one.integration['_id']}")


async def test_they_are_counted_by_reason_provider_workflow_and_channel(world: World) -> None:
    await fail(world, key="first", people=2, status=400)
    await fail(world, key="second", people=3, status=401)

    assert await counts(world, "reason") == {"Email Webhook answered 400: ok": 2, "Email Webhook answered 401: ok": 3}
    assert await counts(world, "provider") == {"email-webhook": 5}
    assert await counts(world, "workflow") == {"first": 2, "second": 3}
    assert await counts(world, "channel") == {"email": 5}
    assert await counts(world, "workflow", reason="Email Webhook answered 401") == {"second": 3}
    assert await counts(world, "reason", workflowId="first") == {"Email Webhook answered 400: ok": 2}


async def test_a_group_is_redriven_alone(world: World) -> None:
    await fail(world, key="first", status=400)
    await fail(world, key="second", status=401)

    assert await redrive(world, reason="Email Webhook answered 400: ok") == 2
    assert await counts(world, "workflow") == {"second": 2}
    assert await redrive(world, workflowId="second") == 2
    assert await dead_letters(world) == []


async def test_a_group_that_is_discarded_stays_failed_and_cannot_be_redriven(world: World) -> None:
    await fail(world, key="first")
    await fail(world, key="second", status=401)

    response = await world.api.post("/v1/dead-letters/discard", json={"workflowId": "first"})

    assert response.json() == {"discarded": 2, "hasMore": False, "remaining": 0}
    assert [one["workflowId"] for one in await dead_letters(world)] == ["second"] * 2
    assert await redrive(world, workflowId="first") == 0
    jobs = [job for run in await world.events() for job in run["jobs"] if "Discarded" in details(job)]
    assert [job["status"] for job in jobs] == ["failed", "failed"]


async def test_one_is_shown_with_its_messages_and_attempts_and_discarded(world: World, other_api: Api) -> None:
    await fail(world, people=1)
    (listed,) = await dead_letters(world)
    path = f"/v1/dead-letters/{listed['_id']}"

    found = (await world.api.get(path)).json()
    foreign = [(await other_api.get(path)).status_code, (await other_api.delete(path)).status_code]
    gone = [(await world.api.delete(path)).status_code for _ in range(2)]

    (message,) = found["messages"]
    assert {name: found[name] for name in listed} == listed
    assert (message["errorText"], message["givenUpAt"]) == ("Email Webhook answered 400: ok", listed["diedAt"])
    assert "Unexpected provider error" in {one["detail"] for one in found["executionDetails"]}
    assert (foreign, gone) == ([404, 404], [204, 404])
    assert (await world.api.get(path)).status_code == 404


async def test_nothing_is_discarded_by_mistake(world: World, make_api: MakeApi) -> None:
    await fail(world, people=1)
    reader = await make_api(scopes=frozenset({Scope.EVENTS_READ}))

    assert (await world.api.post("/v1/dead-letters/discard", json={})).status_code == 422
    assert (await reader.post("/v1/dead-letters/discard", json={"all": True})).status_code == 403
    assert (await world.api.get("/v1/dead-letters/counts")).status_code == 422
    assert len(await dead_letters(world)) == 1
    assert (await world.api.post("/v1/dead-letters/discard", json={"all": True})).json()["discarded"] == 1


async def test_progress_shows_how_many_are_left(world: World) -> None:
    async with account(world, "a") as one:
        one.break_down(400)
        await world.make_workflow(EMAIL)
        await trigger_many(world, 5)
        await world.trigger(ADA)
        await world.work()

    first = (await world.api.post("/v1/dead-letters/redrive", json={"all": True, "limit": 4})).json()
    second = (await world.api.post("/v1/dead-letters/discard", json={"all": True})).json()

    assert first == {"redriven": 4, "hasMore": True, "remaining": 2}
    assert second == {"discarded": 2, "hasMore": False, "remaining": 0}


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("550 5.1.1 <ada@example.com>: unknown user", "550 5.1.1"),
        ("Mail answered 400: ok", "Mail answered 400: ok"),
        ("No route to ada@example.com", "No route to"),
        ("Message 1234567 refused", "Message"),
        ('Mail answered 400: {"id": 7}', "Mail answered 400"),
        ("12345678", "12345678"),
    ],
)
def test_a_reason_ends_before_what_differs(error: str, reason: str) -> None:
    assert reason_of(error) == reason


def test_a_reason_counts_what_begins_with_it() -> None:
    errors = {
        JobId(b"a"): ["Full: <a>"],
        JobId(b"b"): ["Full of mail"],
        JobId(b"c"): ["Gone", "Full: <c>"],
        JobId(b"d"): [],
    }

    assert count_reasons(errors) == {"Full": 3, "Gone": 1}
