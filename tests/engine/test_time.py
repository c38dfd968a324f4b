"""Delays, digests and throttles, without waiting."""

from typing import Any

import pytest

from clarion.clock import DAY, HOUR, MINUTE
from tests.engine.support import World, details, in_app, step
from tests.sending.test_sends import EMAIL


async def test_a_delay_holds_the_run_until_its_moment(world: World) -> None:
    await world.make_workflow(in_app("before"), step("delay", type="regular", amount=2, unit="hours"), in_app("after"))
    await world.trigger()
    await world.work()
    assert await world.statuses() == [["completed", "delayed", "pending"]]
    await world.work(after=2 * HOUR - 1)
    assert await world.feed() == ["before"]

    await world.work(after=1)

    assert await world.feed() == ["before", "after"]
    assert await world.statuses() == [["completed", "completed", "completed"]]
    (event,) = await world.events()
    assert details(event["jobs"][1]) == ["Step queued", "Step delayed", "Delay is finished"]


@pytest.mark.parametrize(
    ("controls", "payload", "due"),
    [
        ({"type": "scheduled", "delayPath": "at.when"}, {"at": {"when": "2026-01-01T05:00:00Z"}}, 5 * HOUR),
        ({"type": "scheduled", "delayPath": "payload.when"}, {"when": "2025-01-01T05:00:00Z"}, 0),
        ({"type": "dynamic", "dynamicKey": "payload.wait"}, {"wait": {"amount": 3, "unit": "minutes"}}, 3 * MINUTE),
        ({"type": "timed", "cron": "30 9 * * *"}, {}, 9 * HOUR + 30 * MINUTE),
        ({"type": "regular", "amount": 1, "unit": "days"}, {}, DAY),
        ({"type": "regular", "amount": 0.5, "unit": "hours"}, {}, 30 * MINUTE),
        ({"type": "regular", "amount": 1.5, "unit": "days"}, {}, 36 * HOUR),
        ({"type": "dynamic", "dynamicKey": "payload.wait"}, {"wait": {"amount": 0.5, "unit": "hours"}}, 30 * MINUTE),
    ],
)
async def test_delays_of_every_kind_end_when_they_say(world: World, controls: Any, payload: Any, due: int) -> None:
    await world.make_workflow(step("delay", **controls), in_app("now"))
    await world.trigger(payload=payload)
    await world.work()
    if due:
        await world.work(after=due - 1)
        assert await world.feed() == []
        await world.work(after=1)

    assert await world.feed() == ["now"]


async def test_an_override_of_a_delay_wins_and_may_be_a_fraction(world: World) -> None:
    await world.make_workflow(step("delay", type="regular", amount=1, unit="days"), in_app("now"))
    await world.trigger(overrides={"delay": {"amount": 0.5, "unit": "hours"}})
    await world.work()
    await world.work(after=30 * MINUTE - 1)
    assert await world.feed() == []

    await world.work(after=1)

    assert await world.feed() == ["now"]


async def test_an_override_of_nothing_takes_the_delay_away(world: World) -> None:
    await world.make_workflow(step("delay", type="regular", amount=1, unit="days"), in_app("now"))
    await world.trigger(overrides={"delay": {"amount": 0, "unit": "hours"}})
    await world.work()

    assert await world.feed() == ["now"]


async def test_a_delay_until_a_moment_beyond_ten_years_fails_with_the_reason(world: World) -> None:
    await world.make_workflow(step("delay", type="scheduled", delayPath="when"), in_app("after"))
    await world.trigger(payload={"when": "2099-01-01T00:00:00Z"})
    await world.work()

    (event,) = await world.events()
    assert details(event["jobs"][0]) == ["Step queued", "Defer duration limit exceeded"]
    assert [job["status"] for job in event["jobs"]] == ["failed", "completed"]


@pytest.mark.parametrize(
    "override",
    [
        {"amount": 1},
        {"amount": "1", "unit": "hours"},
        {"amount": 1, "unit": "eons"},
        {"amount": -1, "unit": "hours"},
        5,
    ],
)
async def test_an_override_of_a_delay_that_is_no_length_of_time_is_reported(world: World, override: Any) -> None:
    await world.make_workflow(step("delay", type="regular", amount=1, unit="hours"), in_app("now"))
    await world.trigger(overrides={"delay": override})
    await world.work()
    (event,) = await world.events()
    await world.work(after=HOUR)

    assert details(event["jobs"][0]) == ["Step queued", "Delay override was ignored", "Step delayed"]
    assert await world.feed() == ["now"]


async def test_a_delay_that_names_nothing_fails_and_the_run_goes_on(world: World) -> None:
    await world.make_workflow(step("delay", type="scheduled", delayPath="when"), in_app("after"))
    await world.trigger(payload={"when": "soon"})
    await world.work()

    assert await world.statuses() == [["failed", "completed"]]


async def test_days_follow_the_persons_time_zone(world: World) -> None:
    await world.make_workflow(step("delay", type="timed", cron="0 8 * * *"), in_app("morning"))
    await world.trigger({"subscriberId": "ada", "timezone": "Asia/Tokyo"})
    await world.work()
    # Midnight in UTC is nine in Tokyo: the next eight o'clock there is 23 hours away.
    await world.work(after=23 * HOUR - 1)
    assert await world.feed() == []

    await world.work(after=1)

    assert await world.feed() == ["morning"]


@pytest.mark.parametrize(("own", "hours"), [(None, 23), ("UTC", 8)])
async def test_the_environments_time_zone_is_that_of_people_who_have_none(
    world: World, own: str | None, hours: int
) -> None:
    await world.set_timezone("Asia/Tokyo")
    await world.make_workflow(step("delay", type="timed", cron="0 8 * * *"), in_app("morning"))
    await world.trigger({"subscriberId": "ada", "timezone": own})
    await world.work()
    await world.work(after=hours * HOUR - 1)
    assert await world.feed() == []

    await world.work(after=1)

    assert await world.feed() == ["morning"]


async def test_days_of_digests_and_schedules_follow_the_environments_time_zone(world: World) -> None:
    await world.set_timezone("Asia/Tokyo")
    await world.make_workflow(digest(type="timed", cron="0 8 * * *", amount=None, unit=None), EMAIL)
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada", "email": "ada@example.com"})
    # Thursday midnight in UTC is Thursday nine in Tokyo; the window closes there on Friday at eight.
    await world.set_schedule(friday=[("07:30 AM", "08:30 AM")])
    await world.trigger()
    await world.work()
    await world.work(after=23 * HOUR)

    (event,) = await world.events()
    assert "fell outside" not in " ".join(details(event["jobs"][1]))


def digest(**controls: Any) -> dict[str, Any]:
    return step("digest", "Digest", **({"type": "regular", "amount": 1, "unit": "hours"} | controls))


SUMMARY = "{{steps.digest.eventCount}}:{% for event in steps.digest.events %}{{event.payload.n}}{% endfor %}"


async def test_events_of_a_window_are_told_together_in_their_order(world: World) -> None:
    await world.make_workflow(digest(), in_app(SUMMARY))
    for number in range(1, 5):
        await world.trigger(payload={"n": number})
        if number == 2:
            await world.work(after=10 * MINUTE)
    await world.work()
    await world.work(after=HOUR)

    leader, *others = await world.events()
    assert await world.feed() == ["4:1234"]
    assert [job["status"] for job in leader["jobs"]] == ["completed", "completed"]
    assert [event["payload"]["n"] for event in leader["jobs"][0]["digest"]["events"]] == [1, 2, 3, 4]
    transactions = [event["transactionId"] for event in leader["jobs"][0]["digest"]["events"]]
    assert set(transactions) == {one["transactionId"] for one in (leader, *others)}
    assert {one["_digestedNotificationId"] for one in others} == {leader["_id"]}
    assert {job["status"] for one in others for job in one["jobs"]} == {"merged"}


async def test_the_next_event_after_a_window_opens_the_next_one(world: World) -> None:
    await world.make_workflow(digest(), in_app(SUMMARY))
    await world.trigger(payload={"n": 1})
    await world.work()
    await world.work(after=HOUR)
    await world.trigger(payload={"n": 2})
    await world.work()
    await world.work(after=HOUR)

    assert await world.feed() == ["1:1", "1:2"]


async def test_people_and_keys_have_windows_of_their_own(world: World) -> None:
    await world.make_workflow(digest(digestKey="{{payload.room.id}}"), in_app(SUMMARY))
    for number, (who, room) in enumerate([("ada", 1), ("bob", 1), ("ada", 2), ("ada", 1), ("ada", "1")], start=1):
        await world.trigger(who, payload={"n": number, "room": {"id": room}})
    await world.work()
    await world.work(after=HOUR)

    assert sorted(await world.feed("ada")) == ["1:3", "1:5", "2:14"]
    assert await world.feed("bob") == ["1:2"]


async def test_two_digests_in_one_workflow_do_not_mix(world: World) -> None:
    await world.make_workflow(
        digest(),
        in_app("first {{steps.digest.eventCount}}"),
        step("digest", "Second", type="regular", amount=1, unit="days"),
        in_app("second {{steps.second.eventCount}}"),
    )
    for _ in range(2):
        await world.trigger()
        await world.trigger()
        await world.work()
        await world.work(after=HOUR)
    await world.work(after=DAY)

    assert await world.feed() == ["first 2", "first 2", "second 2"]


async def test_a_look_back_lets_the_first_event_through_at_once(world: World) -> None:
    await world.make_workflow(digest(lookBackWindow={"amount": 30, "unit": "minutes"}), in_app(SUMMARY))
    for number in range(1, 4):
        await world.trigger(payload={"n": number})
        await world.work(after=MINUTE)
    assert await world.feed() == ["1:1"]

    await world.work(after=HOUR)

    assert await world.feed() == ["1:1", "2:23"]


async def test_a_timed_digest_closes_at_the_next_local_time(world: World) -> None:
    await world.make_workflow(digest(type="timed", cron="0 9 * * *", amount=None, unit=None), in_app(SUMMARY))
    await world.trigger(payload={"n": 1})
    await world.work(after=8 * HOUR)
    await world.trigger(payload={"n": 2})
    await world.work()
    await world.work(after=HOUR)

    assert await world.feed() == ["2:12"]


async def test_digests_throttles_and_look_backs_count_fractions(world: World) -> None:
    half: dict[str, Any] = {"amount": 0.5, "unit": "hours"}
    await world.make_workflow(digest(**half), in_app("digest {{steps.digest.eventCount}}"))
    await world.make_workflow(step("throttle", type="fixed", threshold=1, **half), in_app("pass"), key="throttle")
    await world.make_workflow(digest(lookBackWindow=half), in_app("back"), key="back")
    for name in ("welcome", "throttle", "back"):
        await world.trigger(name=name)
    await world.work()
    await world.work(after=30 * MINUTE)
    for name in ("throttle", "back"):
        await world.trigger(name=name)
    await world.work()

    assert sorted(await world.feed()) == ["back", "back", "digest 1", "pass", "pass"]
    (event,) = [one for one in await world.events() if one["template"]["name"] == "Welcome"]
    assert event["jobs"][0]["digest"]["amount"] == 0.5


async def test_whole_amounts_stay_whole(world: World) -> None:
    made = await world.make_workflow(digest(amount=2), in_app("x"))
    await world.trigger()
    await world.work()

    (event,) = await world.events()
    assert str(made["steps"][0]["controlValues"]["amount"]) == "2"
    assert str(event["jobs"][0]["digest"]["amount"]) == "2"


async def test_throttling_skips_what_goes_beyond(world: World) -> None:
    await world.make_workflow(
        step("throttle", type="fixed", amount=1, unit="hours", threshold=2), in_app("{{payload.n}}")
    )
    for number in range(1, 5):
        await world.trigger(payload={"n": number})
    await world.work()
    await world.work(after=HOUR)
    await world.trigger(payload={"n": 5})
    await world.work()

    assert await world.feed() == ["1", "2", "5"]
    assert (await world.statuses())[2] == ["skipped", "skipped"]


async def test_cancelling_stops_what_has_not_happened(world: World) -> None:
    await world.make_workflow(in_app("before"), step("delay", type="regular", amount=1, unit="hours"), in_app("after"))
    await world.trigger(transactionId="order-1")
    await world.work()

    first = await world.api.delete("/v1/events/trigger/order-1")
    again = await world.api.delete("/v1/events/trigger/order-1")
    unknown = await world.api.delete("/v1/events/trigger/other")
    await world.work(after=HOUR)

    assert (first.json(), again.json(), unknown.json()) == (True, False, False)
    assert await world.feed() == ["before"]
    assert await world.statuses() == [["completed", "canceled", "canceled"]]


async def test_cancelling_before_anything_was_done_leaves_nothing(world: World) -> None:
    await world.make_workflow(in_app("x"))
    await world.trigger(transactionId="order-1")

    assert (await world.api.delete("/v1/events/trigger/order-1")).json() is True
    await world.work()

    assert await world.events() == []


async def test_cancelling_the_leader_of_a_digest_lets_the_next_one_lead(world: World) -> None:
    await world.make_workflow(digest(), in_app(SUMMARY))
    for number in range(1, 5):
        await world.trigger(payload={"n": number}, transactionId=f"t{number}")
    await world.work()

    await world.api.delete("/v1/events/trigger/t1")
    await world.api.delete("/v1/events/trigger/t3")
    await world.work(after=HOUR)

    events = {event["transactionId"]: event for event in await world.events()}
    assert await world.feed() == ["2:24"]
    assert [job["status"] for job in events["t1"]["jobs"]] == ["canceled", "canceled"]
    assert [job["status"] for job in events["t2"]["jobs"]] == ["completed", "completed"]
    assert events["t4"]["_digestedNotificationId"] == events["t2"]["_id"]
    assert "_digestedNotificationId" not in events["t2"]


async def test_preferences_are_asked_again_after_a_delay(world: World) -> None:
    await world.make_workflow(step("delay", type="regular", amount=1, unit="hours"), in_app("after"))
    await world.trigger()
    await world.work()

    await world.api.patch("/v2/subscribers/ada/preferences", json={"channels": {"in_app": False}})
    await world.work(after=HOUR)

    assert await world.statuses() == [["completed", "skipped"]]


async def test_deleting_a_person_ends_their_runs(world: World) -> None:
    await world.make_workflow(step("delay", type="regular", amount=1, unit="hours"), in_app("after"))
    await world.trigger("ada")
    await world.trigger("bob")
    await world.work()

    await world.api.delete("/v2/subscribers/ada")
    await world.work(after=HOUR)

    assert await world.feed("bob") == ["after"]
    assert [event["subscriber"]["subscriberId"] for event in await world.events()] == ["bob"]


async def test_later_steps_see_that_a_run_was_not_throttled(world: World) -> None:
    await world.make_workflow(
        step("throttle", type="fixed", amount=1, unit="hours", threshold=1), in_app("{{steps.throttle.throttled}}")
    )
    await world.trigger()
    await world.work()

    assert await world.feed() == ["false"]


async def test_a_digest_key_may_be_the_output_of_an_earlier_step(world: World) -> None:
    await world.make_workflow(
        in_app("{{payload.n}}"),
        step("digest", type="regular", amount=1, unit="hours", digestKey="steps.inbox.seen"),
        in_app("{{steps.digest.eventCount}} events"),
    )
    for n in range(2):
        await world.trigger(payload={"n": n})
    await world.work()
    await world.work(after=HOUR)

    assert await world.feed() == ["0", "1", "2 events"]
