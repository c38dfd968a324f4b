"""Conditions on earlier steps and on whether the person is online, when a step is reached."""

import json
from typing import Any

import pytest

from clarion.clock import HOUR, MINUTE
from tests.engine.support import World, details, in_app, step

DELAY = step("delay", type="regular", amount=1, unit="hours")


def group(*children: dict[str, Any], negated: bool = False) -> list[dict[str, Any]]:
    return [{"type": "GROUP", "value": "AND", "isNegated": negated, "children": list(children)}]


def previous(mark: str, reference: str = "inbox") -> list[dict[str, Any]]:
    return group({"on": "previousStep", "step": reference, "stepType": mark})


@pytest.mark.parametrize(
    ("mark_as", "expected"),
    [(None, ["unread", "unseen"]), ("seen", ["unread", "seen"]), ("read", ["read", "seen"])],
)
async def test_a_step_depends_on_what_became_of_an_earlier_one(
    world: World, mark_as: str | None, expected: list[str]
) -> None:
    marks = ["read", "unread", "seen", "unseen"]
    await world.make_workflow(in_app("x"), DELAY, *(in_app(one, filters=previous(one)) for one in marks))
    await world.trigger()
    await world.work()
    if mark_as:
        await world.api.post("/v1/subscribers/ada/messages/mark-all", json={"markAs": mark_as})

    await world.work(after=HOUR)

    assert sorted(await world.feed()) == sorted(["x", *expected])


async def test_an_earlier_step_is_named_by_its_id_in_variants_and_in_copies(world: World) -> None:
    made = await world.make_workflow(in_app("x"), DELAY, in_app("second"))
    variant = {
        "name": "Read",
        "filters": previous("read", made["steps"][0]["_id"]),
        "controlValues": {"body": "was read"},
    }
    steps = [*made["steps"][:2], {**made["steps"][2], "variants": [variant]}]
    changed = await world.api.put("/v2/workflows/welcome", json={"name": "Welcome", "steps": steps})
    copied = await world.api.post("/v2/workflows/welcome/duplicate", json={"workflowId": "copy"})
    await world.api.patch("/v2/workflows/copy", json={"active": True})
    for name in ("welcome", "copy"):
        await world.trigger(name=name)
    await world.work()
    await world.api.post("/v1/subscribers/ada/messages/mark-all", json={"markAs": "read"})

    await world.work(after=HOUR)

    assert (changed.status_code, copied.status_code) == (200, 201)
    assert await world.feed() == ["x", "x", "was read", "was read"]


async def test_a_message_that_was_never_made_is_unread(world: World) -> None:
    never = {"==": [{"var": "payload.never"}, True]}
    await world.make_workflow(
        in_app("x", skip=never), in_app("unread", filters=previous("unread")), in_app("read", filters=previous("read"))
    )
    await world.trigger()
    await world.work()

    assert await world.feed() == ["unread"]


async def test_an_earlier_step_must_be_one_that_is_seen_and_read(world: World) -> None:
    steps = [
        in_app("x", filters=previous("read", "later")),
        step("sms", "Text", body="x"),
        {**in_app("y", filters=previous("read", "text")), "variants": [{"filters": previous("read", "nowhere")}]},
        {**in_app("z"), "stepId": "later"},
    ]

    response = await world.api.post("/v2/workflows", json={"name": "x", "workflowId": "x", "steps": steps})

    assert response.status_code == 422
    assert set(response.json()["errors"]) == {
        "steps.0.filters.0.children.0.step",
        "steps.2.filters.0.children.0.step",
        "steps.2.variants.0.filters.0.children.0.step",
    }


async def test_a_step_depends_on_whether_the_person_is_online(world: World) -> None:
    recent = {"on": "isOnlineInLast", "timeOperator": "minutes", "value": 30}
    await world.make_workflow(
        in_app("online", filters=group({"on": "isOnline", "value": True})),
        in_app("offline", filters=group({"on": "isOnline", "value": False})),
        in_app("recent", filters=group(recent)),
        in_app("not recent", filters=group(recent, negated=True)),
    )
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})
    found = []
    for is_online, minutes in ((None, 0), (True, 0), (False, 0), (None, 30), (None, 1)):
        if is_online is not None:
            await world.api.patch("/v1/subscribers/ada/online-status", json={"isOnline": is_online})
        world.clock.move(minutes * MINUTE)
        before = len(await world.feed())
        await world.trigger()
        await world.work()
        found.append((await world.feed())[before:])

    assert found == [
        ["offline", "not recent"],
        ["online", "recent"],
        ["offline", "recent"],
        ["offline", "recent"],
        ["offline", "not recent"],
    ]


@pytest.mark.parametrize("negated", [False, True])
async def test_a_kind_that_is_not_supported_is_a_problem_of_the_step_and_never_holds(
    world: World, negated: bool
) -> None:
    child = {"on": "webhook", "webhookUrl": "https://example.org", "field": "x", "operator": "NOT_EQUAL", "value": "1"}
    made = await world.make_workflow(in_app("x", filters=group(child, negated=negated)))
    await world.trigger()
    await world.work()

    assert list(made["steps"][0]["issues"]["controls"]) == ["filters.0.children.0.on"]
    assert made["status"] == "ERROR"
    assert await world.statuses() == [["skipped"]]
    (event,) = await world.events()
    raw = json.loads(event["jobs"][0]["executionDetails"][-1]["raw"])
    assert raw["groups"][0]["children"][0]["problem"] == "filters on 'webhook' are not supported"


def expects(field: str, value: str) -> list[dict[str, Any]]:
    return group({"on": "payload", "field": field, "operator": "EQUAL", "value": value})


def with_variant(value: str) -> dict[str, Any]:
    variant = {"name": "Own", "filters": expects("author", value), "controlValues": {"body": "yours"}}
    return in_app("another's", variants=[variant])


async def test_conditions_of_variants_may_have_templates_in_their_values(world: World) -> None:
    await world.make_workflow(with_variant("{{subscriber.subscriberId}}"))

    for author in ("ada", "bob"):
        await world.trigger(payload={"author": author})
    await world.work()

    assert await world.feed() == ["yours", "another's"]


async def test_a_simulation_chooses_the_variant_by_templates_too(world: World) -> None:
    await world.make_workflow(with_variant("{{subscriber.subscriberId}}"))
    body = {"name": "welcome", "to": "ada", "payload": {"author": "ada"}}

    shown = (await world.api.post("/v1/simulate", json=body)).json()

    assert [one["content"] for one in shown["recipients"][0]["messages"]] == ["yours"]


async def test_a_step_with_a_variant_whose_condition_cannot_be_rendered_fails_with_the_reason(world: World) -> None:
    await world.make_workflow(with_variant("{{ subscriber"), in_app("after"))

    await world.trigger(payload={"author": "ada"})
    await world.work()

    assert await world.statuses() == [["failed", "completed"]]
    (run,) = await world.events()
    assert details(run["jobs"][0]) == ["Step queued", "Message content could not be generated"]


async def test_a_digest_whose_variants_cannot_be_chosen_fails_alone(world: World) -> None:
    digest = step("digest", "Digest", type="regular", amount=1, unit="hours")
    variant = {"filters": expects("author", "{{ subscriber"), "controlValues": digest["controlValues"]}
    await world.make_workflow({**digest, "variants": [variant]}, in_app("after"))

    await world.trigger(payload={"author": "ada"})
    await world.work()

    assert await world.statuses() == [["failed", "completed"]]
