"""Steps that change messages of earlier steps, or withdraw them."""

from typing import Any

import pytest

from clarion.clock import HOUR
from tests.engine.support import World, details, in_app, step

DELAY = step("delay", type="regular", amount=1, unit="hours")
UPDATE = step("update", "Change", ofStep="inbox", body="It is over, {{payload.name}}")
CLEAR = step("clear", "Withdraw", ofStep="inbox")


async def run(world: World, *steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    await world.make_workflow(*steps)
    await world.trigger(payload={"name": "Ada"}, **fields)
    await world.work()
    await world.work(after=HOUR)
    (event,) = await world.events()
    made: dict[str, Any] = event
    return made


async def explain(world: World, event: dict[str, Any]) -> list[str]:
    response = await world.api.get(f"/v1/notifications/{event['_id']}/explain")
    return [one["summary"] for one in response.json()["decisions"] if one["kind"] == "change"]


@pytest.mark.parametrize("between", [[DELAY], []])
async def test_an_in_app_message_gets_new_content(world: World, between: list[dict[str, Any]]) -> None:
    event = await run(world, in_app("Uploads fail", subject="Incident"), *between, UPDATE)

    (message,) = await world.messages()
    assert await world.feed() == ["It is over, Ada"]
    assert message["subject"] == "Incident"
    assert "Messages of an earlier step were changed" in details(event["jobs"][-1])
    assert (await explain(world, event))[-1] == "Of the messages of the step 'inbox', 1 were changed."


@pytest.mark.parametrize("between", [[DELAY], []])
async def test_an_in_app_message_is_withdrawn(world: World, between: list[dict[str, Any]]) -> None:
    event = await run(world, in_app("Uploads fail"), *between, CLEAR, in_app("{{steps.withdraw.changed}}"))

    assert await world.feed() == ["1"]
    assert "1 were withdrawn" in (await explain(world, event))[-1]


async def test_what_the_step_leaves_out_stays(world: World) -> None:
    first = in_app("Uploads fail", primaryAction={"label": "Status", "redirect": {"url": "https://example.com/s"}})
    button = {"label": "Done", "redirect": {"url": "https://example.com/done"}}
    await run(world, first, DELAY, step("update", ofStep="inbox", secondaryAction=button))

    (message,) = await world.messages()
    assert message["content"] == "Uploads fail"
    assert [one["content"] for one in message["cta"]["action"]["buttons"]] == ["Status", "Done"]


async def test_scripts_are_taken_out_of_new_content(world: World) -> None:
    changed = step("update", ofStep="inbox", body="<b>Hi</b><script>alert(1)</script>")
    await run(world, in_app("x"), DELAY, changed)

    assert "script" not in (await world.feed())[0]


async def test_a_step_that_was_skipped_has_no_message(world: World) -> None:
    skipped = in_app("x", skip={"==": [1, 2]})
    event = await run(world, skipped, DELAY, UPDATE, in_app("{{steps.change.changed}}"))

    assert await world.feed() == ["0"]
    assert "There was no message to change" in details(event["jobs"][2])


async def test_mails_cannot_be_changed_and_the_reason_is_told(world: World) -> None:
    mailbox = {"providerId": "svc-email", "channel": "email", "active": True}
    assert (await world.api.post("/v1/integrations", json=mailbox)).status_code == 201
    mail = step("email", "Mail", subject="Hello", body="Hello")
    changed = step("update", "Change", ofStep="mail", body="Other")
    ada = {"subscriberId": "ada", "email": "ada@example.com"}
    event = await run(world, mail, DELAY, changed, in_app("{{steps.change.refused}}"), to=ada)

    assert await world.feed() == ["1"]
    assert "Messages of an earlier step could not be changed" in details(event["jobs"][2])
    assert "An e-mail that is made cannot be changed" in (await explain(world, event))[-1]


async def test_only_earlier_steps_that_send_can_be_named(world: World) -> None:
    for steps in ([UPDATE, in_app("x")], [DELAY, step("clear", ofStep="delay")], [step("clear", ofStep="unknown")]):
        response = await world.api.post("/v2/workflows", json={"name": "W", "workflowId": "w", "steps": steps})

        assert response.status_code == 422
        assert any(path.endswith("controlValues.ofStep") for path in response.json()["errors"])


async def test_a_step_that_names_none_has_an_issue_and_fails(world: World) -> None:
    made = await world.make_workflow(in_app("x"), step("clear"))
    await world.trigger()
    await world.work()

    assert list(made["steps"][1]["issues"]["controls"]) == ["ofStep"]
    assert (await world.statuses())[0] == ["completed", "failed"]


async def test_a_message_that_was_deleted_is_left_alone(world: World) -> None:
    await world.make_workflow(in_app("x"), DELAY, UPDATE)
    await world.trigger(payload={"name": "Ada"})
    await world.work()
    (message,) = await world.messages()
    assert (await world.api.delete(f"/v1/messages/{message['_id']}")).status_code == 200

    await world.work(after=HOUR)

    assert await world.feed() == []
    assert (await world.statuses())[0][-1] == "completed"
