"""How many e-mails were opened, clicked and replied to, as `GET /v1/usage/emails` counts them."""

from typing import Any

from clarion.clock import DAY, ManualClock
from clarion.db.port import Database
from clarion.tracking.reactions import LIST_REACTIONS
from clarion.tracking.recorder import TrackingRecorder
from clarion.vocabulary import Scope
from tests.engine.providers import account
from tests.engine.support import World
from tests.plans import explain
from tests.support import Api, MakeApi
from tests.tracking.support import MAIL, find_image, list_links, send, switch_on, visit

BOB = {"subscriberId": "bob", "email": "bob@example.com"}
FIRST_DAY = "2026-01-01T00:00:00.000Z"


async def usage(api: Api, **query: Any) -> list[tuple[str, int, int, int]]:
    response = await api.get("/v1/usage/emails", params=query)
    assert response.status_code == 200, response.text
    return [(one["at"], one["opened"], one["clicked"], one["replied"]) for one in response.json()["data"]]


async def test_an_email_counts_once_whatever_happens_to_it(world: World, recorder: TrackingRecorder) -> None:
    async with account(world, "a") as first:
        await switch_on(world)
        await world.make_workflow(MAIL)
        html, other = await send(world, first), await send(world, first, BOB)
    (link,) = list_links(html)

    assert await usage(world.api) == []
    await visit(world, recorder, find_image(html))
    assert await usage(world.api) == [(FIRST_DAY, 1, 0, 0)]
    await visit(world, recorder, find_image(html))
    await visit(world, recorder, link)
    await visit(world, recorder, link)
    await visit(world, recorder, find_image(other))
    assert await usage(world.api) == [(FIRST_DAY, 2, 1, 0)]


async def test_programs_do_not_count(world: World, recorder: TrackingRecorder) -> None:
    async with account(world, "a") as first:
        await switch_on(world)
        await world.make_workflow(MAIL)
        html = await send(world, first)
    (link,) = list_links(html)

    await visit(world, recorder, find_image(html), user_agent="Mozilla/5.0")
    await visit(world, recorder, link, user_agent="Googlebot/2.1")
    await visit(world, recorder, link, method="HEAD")

    assert await usage(world.api) == []


async def test_they_are_counted_by_the_time_of_the_reaction(
    world: World, recorder: TrackingRecorder, clock: ManualClock
) -> None:
    async with account(world, "a") as first:
        await switch_on(world)
        await world.make_workflow(MAIL)
        html = await send(world, first)
    (link,) = list_links(html)

    await visit(world, recorder, find_image(html))
    clock.move(DAY)
    await visit(world, recorder, link)

    second_day = "2026-01-02T00:00:00.000Z"
    assert await usage(world.api) == [(FIRST_DAY, 1, 0, 0), (second_day, 0, 1, 0)]
    assert await usage(world.api, before=second_day) == [(FIRST_DAY, 1, 0, 0)]
    assert await usage(world.api, bucket="hour") == [(FIRST_DAY, 1, 0, 0), (second_day, 0, 1, 0)]
    refused = await world.api.get("/v1/usage/emails", params={"bucket": "hour", "after": "2025-01-01T00:00:00.000Z"})
    assert (refused.status_code, set(refused.json()["errors"])) == (422, {"after"})


async def test_workflows_are_named_and_lose_their_identifier_when_they_are_deleted(
    world: World, recorder: TrackingRecorder
) -> None:
    async with account(world, "a") as first:
        await switch_on(world)
        workflow = await world.make_workflow(MAIL)
        await visit(world, recorder, find_image(await send(world, first)))

    (shown,) = (await world.api.get("/v1/usage/emails")).json()["data"]
    assert (shown["_workflowId"], shown["workflowId"]) == (workflow["_id"], workflow["workflowId"])
    await world.api.delete(f"/v2/workflows/{workflow['workflowId']}")
    (shown,) = (await world.api.get("/v1/usage/emails")).json()["data"]
    assert "workflowId" not in shown
    assert shown["name"] == workflow["name"]


async def test_they_need_their_scope_and_are_those_of_one_environment(
    world: World, recorder: TrackingRecorder, make_api: MakeApi, other_api: Api
) -> None:
    async with account(world, "a") as first:
        await switch_on(world)
        await world.make_workflow(MAIL)
        await visit(world, recorder, find_image(await send(world, first)))
    messages = await make_api(scopes=frozenset({Scope.MESSAGES_READ}))
    workflows = await make_api(scopes=frozenset({Scope.WORKFLOWS_READ}))

    assert await usage(messages) == [(FIRST_DAY, 1, 0, 0)]
    assert (await workflows.get("/v1/usage/emails")).status_code == 403
    assert await usage(other_api) == []


async def test_counts_are_read_in_the_order_of_their_key(world: World, database: Database) -> None:
    plan = await explain(
        database, LIST_REACTIONS, environment_id=world.api.environment.id, first=bytes(16), last=bytes(16)
    )

    assert "mail_reactions_pkey" in plan or "PRIMARY KEY" in plan, plan
    assert "Sort" not in plan, plan
    assert "B-TREE" not in plan, plan
