"""Steps that wait for what becomes of messages of their run."""

from typing import Any

from clarion.clock import DAY, HOUR
from clarion.waits.model import EVENTS_KEPT
from tests.engine.providers import account
from tests.engine.support import World, in_app, step
from tests.engine.test_waits import start, wait_for


async def test_an_in_app_message_that_is_read_lets_the_run_go_on(world: World) -> None:
    await start(world, in_app("Read me"), wait_for("message.read"), in_app("{{steps.wait.event}}"))
    (message,) = await world.messages()

    await mark(world, message, "read")
    await world.work()

    assert await world.feed() == ["Read me", "message.read"]


async def test_what_happened_while_an_earlier_step_waited_counts(world: World) -> None:
    """Longer ago than events are kept: the message itself tells."""
    delay = step("delay", type="regular", amount=1, unit="days")
    await start(world, in_app("Read me"), delay, wait_for("message.seen"), in_app("{{steps.wait.matched}}"))
    (message,) = await world.messages()
    await mark(world, message, "read")

    await world.work(after=HOUR + EVENTS_KEPT)
    await world.work(after=DAY)

    assert await world.feed() == ["Read me", "true"]


async def test_messages_of_other_runs_and_steps_do_not_count(world: World) -> None:
    first, second = in_app("First"), {**in_app("Second"), "name": "Second"}
    await start(world, first, second, wait_for("message.read", ofStep="second"), in_app("Done"))
    await world.trigger()
    await world.work()
    messages = await world.messages()
    wrong = [one for one in messages if one["content"] == "First"]

    for message in wrong:
        await mark(world, message, "read")
    await world.work()
    before = await world.feed()
    await mark(world, next(one for one in messages if one["content"] == "Second"), "read")
    await world.work()

    assert (before.count("Done"), (await world.feed()).count("Done")) == (0, 1)


async def test_a_message_that_could_not_be_sent_lets_the_run_go_on(world: World) -> None:
    mail = step("email", "Mail", subject="Hello", body="Hello")
    steps = (mail, wait_for("message.failed", ofStep="mail"), in_app("{{steps.wait.event}}"))
    async with account(world, "resend") as provider:
        provider.status = 400
        await start(world, *steps, to={"subscriberId": "ada", "email": "ada@example.com"})
        await world.work()

    assert await world.feed() == ["message.failed"]


async def mark(world: World, message: dict[str, Any], mark_as: str) -> None:
    path = f"/v1/subscribers/{message['subscriber']['subscriberId']}/messages/mark-as"
    response = await world.api.post(path, json={"messageId": message["_id"], "markAs": mark_as})
    assert response.status_code in (200, 201), response.text
