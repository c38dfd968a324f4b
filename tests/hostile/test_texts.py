"""Texts, conditions, schemas and schedules that take too much work, beside a tenant who asks for nothing unusual.

Each test asserts on what became of both: the hostile run fails by itself with its reason, or is refused when it is
saved, and the neighbour's message is sent exactly once.
"""
# ruff: noqa: F811

import asyncio
from typing import Any

import pytest

from clarion.db.port import Connection
from clarion.engine.unit import run_unit
from clarion.jobs.lanes import ALL_LANES
from tests.engine.conftest import world  # noqa: F401 - a fixture, which ruff takes for redefined by the parameters below
from tests.engine.providers import ADA, EMAIL, account
from tests.engine.support import World, details, in_app, step
from tests.support import Api

HUGE = "<a> " * 60_000
SLOW = "{% for i in (1..5000) %}{% if payload.huge contains 'zz' %}x{% endif %}{% endfor %}"
BUSY = "{% for i in (1..1500) %}{{i}}{% endfor %}"
"""Takes more work than a unit of work does before it leaves the rest, and less than a text may take."""


@pytest.fixture
def neighbour(world: World, other_api: Api) -> World:
    return World(other_api, world.engine, world.clock)


async def assert_neighbour_is_served(neighbour: World, work: Any) -> None:
    """Trigger an inbox message and an e-mail of the neighbour, let everybody work, and look at what came of it."""
    async with account(neighbour, "a") as provider:
        await neighbour.make_workflow(in_app("{{payload.n}}"), EMAIL)
        await neighbour.trigger(ADA, payload={"n": 7})
        await work()

        assert await neighbour.feed() == ["7"]
        assert provider.count == 1
        assert await neighbour.statuses() == [["completed", "completed"]]


def reasons(event: dict[str, Any]) -> str:
    return " ".join(str(one.get("raw")) for job in event["jobs"] for one in job["executionDetails"])


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([in_app(SLOW)], id="contains in a loop"),
        pytest.param([in_app("x", data={str(n): SLOW for n in range(4)})], id="several texts in data"),
        pytest.param([step("sms", body=SLOW)], id="sms"),
        pytest.param([step("email", subject="x", body=SLOW)], id="email"),
        pytest.param([step("digest", type="regular", amount=1, unit="hours", digestKey=SLOW)], id="digest key"),
        pytest.param([step("throttle", threshold=1, amount=1, unit="hours", throttleKey=SLOW)], id="throttle key"),
        pytest.param([step("custom", value=SLOW)], id="custom"),
        pytest.param([in_app("{{payload.huge}}")], id="markup of a payload"),
    ],
)
async def test_a_text_that_takes_too_much_work_fails_its_own_run(
    world: World,
    neighbour: World,
    steps: list[dict[str, Any]],
) -> None:
    await world.make_workflow(*steps)
    await world.trigger(payload={"huge": HUGE})

    await assert_neighbour_is_served(neighbour, world.work)

    (event,) = await world.events()
    assert event["jobs"][0]["status"] == "failed"
    assert "Message content could not be generated" in details(event["jobs"][0])
    assert "too much work" in reasons(event)


async def test_the_texts_of_a_run_share_a_budget(world: World, neighbour: World) -> None:
    await world.make_workflow(*[in_app(BUSY) for _ in range(20)])
    await world.trigger()

    await assert_neighbour_is_served(neighbour, world.work)

    (statuses,) = await world.statuses()
    assert statuses[0] == "completed"
    assert statuses[-1] == "failed"
    assert "together with the texts before it" in reasons((await world.events())[0])


async def test_a_unit_leaves_runs_to_the_next_one_when_their_texts_take_much_work(
    world: World,
    neighbour: World,
) -> None:
    await world.make_workflow(in_app(BUSY + "{{payload.n}}"))
    for number in range(6):
        await world.trigger(payload={"n": number})

    async def one_unit(db: Connection) -> int:
        done = await run_unit(
            db, world.api.environment.id, world.clock.now(), lanes=ALL_LANES, source=world.engine.source
        )
        assert done.has_more
        return done.runs

    await world.engine._database.transaction(one_unit)
    assert len(await world.feed()) < 6
    await assert_neighbour_is_served(neighbour, world.work)

    assert [text[-1] for text in await world.feed()] == list("012345")
    assert await world.statuses() == [["completed"]] * 6


async def test_recursive_digests_are_bounded(world: World, neighbour: World) -> None:
    """Each digest holds the events of the one before in its outputs, and the last text shows all of them."""
    windows = [step("digest", f"d{n}", type="regular", amount=1, unit="minutes") for n in range(4)]
    show = in_app(
        "{% for s in steps %}{% for e in s[1].events %}{{ e | json }}{{ steps | json }}{% endfor %}{% endfor %}"
    )
    await world.make_workflow(*windows, show)
    for number in range(20):
        await world.trigger(payload={"n": number, "text": "{{steps | json}}" * 100, "huge": HUGE[:20_000]})
    for _ in range(5):
        await world.work(after=61_000)

    await assert_neighbour_is_served(neighbour, world.work)
    leader = (await world.events())[0]
    assert [job["status"] for job in leader["jobs"]] == ["completed"] * 4 + ["failed"]


async def test_a_text_of_a_payload_is_never_a_template(world: World, neighbour: World) -> None:
    await world.make_workflow(in_app("{{payload.text}}"))
    await world.trigger(payload={"text": SLOW})

    await assert_neighbour_is_served(neighbour, world.work)
    assert await world.feed() == [SLOW]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{{ payload.a }}" * 70_000, "must not be longer than 524288 characters"),
        ("x" * (1 << 20), "must not be longer than 524288 characters"),
        ("{{ payload.a }}" * 5_000, "more than 10000 words and signs"),
    ],
)
async def test_a_text_that_is_too_large_is_refused_when_it_is_saved(
    world: World,
    text: str,
    reason: str,
) -> None:
    body = {"name": "W", "workflowId": "w", "steps": [step("email", subject="x", body=text)]}

    response = await world.api.post("/v2/workflows", json=body)

    assert response.status_code == 422
    assert reason in response.json()["errors"]["steps.0.controlValues.body"]["messages"][0]


async def test_many_texts_of_a_step_are_refused_when_they_are_saved(world: World) -> None:
    data = {str(n): "{{ payload.a }}" * 700 for n in range(30)}
    body = {"name": "W", "workflowId": "w", "steps": [in_app("x", data=data)]}

    response = await world.api.post("/v2/workflows", json=body)

    assert response.status_code == 422
    ((path, problem),) = response.json()["errors"].items()
    assert path.startswith("steps.0.controlValues.data.")
    assert "20000 words and signs together" in problem["messages"][0]


async def test_the_texts_of_a_preview_share_a_budget(world: World, neighbour: World) -> None:
    made = await world.make_workflow(in_app("x"))
    path = f"/v2/workflows/{made['workflowId']}/step/{made['steps'][0]['_id']}/preview"
    values = {"body": "x", "data": {str(n): BUSY for n in range(20)}}

    response = await world.api.post(path, json={"controlValues": values, "previewPayload": {}})

    assert response.status_code == 422
    assert "too much work" in response.json()["errors"]["controlValues.data"]["messages"][0]
    await assert_neighbour_is_served(neighbour, world.work)


async def test_a_schema_that_doubles_with_each_level_is_refused_when_it_is_saved(
    world: World, neighbour: World
) -> None:
    parts = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(21)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**parts, "d21": {"type": "object"}}}
    body = {"name": "W", "workflowId": "w", "steps": [in_app("x")], "payloadSchema": schema, "validatePayload": True}

    response = await world.api.post("/v2/workflows", json=body)

    assert response.status_code == 422
    assert "10000 parts" in response.json()["errors"]["payloadSchema"]["messages"][0]
    await assert_neighbour_is_served(neighbour, world.work)


async def test_payloads_that_take_many_steps_are_refused_and_not_those_of_the_neighbour(
    world: World, neighbour: World
) -> None:
    schema = {"properties": {"c": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}}
    await world.make_workflow(in_app("x"), payloadSchema=schema, validatePayload=True)
    await neighbour.make_workflow(in_app("y"), key="checked", payloadSchema=schema, validatePayload=True)
    payload: dict[str, Any] = {}
    for _ in range(40):
        payload = {"c": payload}

    hostile, plain = await asyncio.gather(
        world.post(payload=payload), neighbour.post(name="checked", payload={"c": {}})
    )

    assert hostile.status_code == 422
    assert "steps to be checked against the payload schema" in hostile.json()["errors"]["payload"]["messages"][0]
    assert plain.status_code == 201
    await world.work()
    assert await neighbour.feed() == ["y"]


async def test_nearly_a_million_subscribers_in_one_trigger_are_refused_with_the_limit(
    world: World, neighbour: World
) -> None:
    await world.make_workflow(in_app("x"))

    response = await world.post(["s"] * 900_000)

    assert response.status_code == 422
    assert "100" in str(response.json()["errors"])
    await assert_neighbour_is_served(neighbour, world.work)


async def test_keys_that_collide_cost_no_more_than_others(world: World, neighbour: World) -> None:
    """Member names are texts, whose hashes differ from process to process; numbers are never keys."""
    await world.make_workflow(in_app("{{payload.a}}"))
    payload = {"a": "x"} | {str(n * ((1 << 61) - 1)): 0 for n in range(5_000)}

    assert (await world.post(payload=payload)).status_code == 201

    await assert_neighbour_is_served(neighbour, world.work)
    assert await world.feed() == ["x"]


@pytest.mark.parametrize("expression", ["0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 31 2 1#5", "* * * * * *", "0 0 32 * *"])
async def test_a_cron_expression_that_never_comes_is_refused_when_it_is_saved(world: World, expression: str) -> None:
    body = {"name": "W", "workflowId": "w", "steps": [step("delay", type="timed", cron=expression)]}

    response = await world.api.post("/v2/workflows", json=body)

    assert response.status_code == 422
    assert "cron expression" in response.json()["errors"]["steps.0.controlValues.cron"]["messages"][0]


@pytest.mark.parametrize("zone", ["Pacific/Apia", "Pacific/Kiritimati", "Etc/GMT+12", "Antarctica/Troll"])
@pytest.mark.parametrize("expression", ["0 0 29 2 *", "59 23 31 12 *", "0 0 29 2 1#5"])
async def test_sparse_cron_expressions_wait_in_any_zone(
    world: World, neighbour: World, zone: str, expression: str
) -> None:
    await world.make_workflow(step("delay", type="timed", cron=expression), in_app("x"))
    await world.trigger({"subscriberId": "ada", "timezone": zone})

    await assert_neighbour_is_served(neighbour, world.work)

    assert await world.statuses() == [["delayed", "pending"]]


@pytest.mark.parametrize(
    ("moment", "status"),
    [
        ("0001-01-01T00:00:00Z", "completed"),
        ("0001-01-01T00:00:00+14:00", "completed"),
        ("9999-12-31T23:59:59Z", "failed"),
        ("9999-12-31T23:59:59-12:00", "failed"),
        ("+275760-09-13T00:00:00.000Z", "failed"),
        (10**300, "failed"),
        (-(10**300), "failed"),
    ],
)
async def test_moments_at_the_edge_of_the_calendar_end_or_fail_their_own_run(
    world: World, neighbour: World, moment: Any, status: str
) -> None:
    await world.make_workflow(step("delay", type="dynamic", dynamicKey="payload.at"), in_app("x"))
    await world.trigger({"subscriberId": "ada", "timezone": "Pacific/Kiritimati"}, payload={"at": moment})

    await assert_neighbour_is_served(neighbour, world.work)

    (event,) = await world.events()
    assert event["jobs"][0]["status"] == status


PAIRS = {"field": "many", "operator": "NOT_IN", "value": ",".join(map(str, range(1_000))), "on": "payload"}


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"filters": [{"children": [PAIRS] * 50}]}, id="every pair of two lists"),
        pytest.param({"skip": {"some": [{"var": "payload.many"}, {"in": ["x", {"var": "payload.many"}]}]}}, id="in"),
        pytest.param({"skip": {"some": [{"var": "payload.many"}, {"==": ["1", {"var": "payload"}]}]}}, id="equal"),
        pytest.param(
            {"filters": [{"children": [{"field": "huge", "operator": "LIKE", "value": "%" + "_" * 400 + "!%"}]}]},
            id="wildcards",
        ),
    ],
)
async def test_a_condition_that_takes_too_much_work_skips_its_own_step(
    world: World, neighbour: World, fields: dict[str, Any]
) -> None:
    await world.make_workflow(in_app("x", **fields))
    await world.trigger(payload={"many": list(range(10_000, 20_000)), "huge": "ß" * 100_000})

    await assert_neighbour_is_served(neighbour, world.work)

    assert await world.statuses() == [["skipped"]]
    assert "too much work" in reasons((await world.events())[0])
