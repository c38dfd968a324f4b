"""Which events a wait takes."""

from typing import Any

import pytest

from clarion.clock import Millis
from clarion.ids import EmittedEventId, EnvironmentId, JobId, SubscriberId
from clarion.waits.model import EmittedEvent, EventWait, WaitRule, find_name_problem

ENVIRONMENT = EnvironmentId(bytes(16))
ADA = SubscriberId(b"ada" + bytes(13))


def make_event(at: int = 500, **data: Any) -> EmittedEvent:
    return EmittedEvent(
        environment_id=ENVIRONMENT,
        id=EmittedEventId(bytes(16)),
        name="order.paid",
        created_at=Millis(at),
        data=data,
        subscriber_id=ADA,
    )


def make_wait(rule: WaitRule | None = None, *, since: int = 100, until: int = 1_000) -> EventWait:
    return EventWait(
        environment_id=ENVIRONMENT,
        job_id=JobId(bytes(16)),
        subscriber_id=ADA,
        lane=0,
        event="order.paid",
        rule=rule or WaitRule(),
        since=Millis(since),
        until=Millis(until),
    )


@pytest.mark.parametrize(("at", "is_taken"), [(99, False), (100, True), (1_000, True), (1_001, False)])
def test_only_events_of_the_time_of_the_wait_are_taken(at: int, is_taken: bool) -> None:
    wait = make_wait()

    assert wait.take(make_event(at)) is is_taken
    assert wait.missed == 0


def test_one_event_is_taken() -> None:
    wait = make_wait()

    assert wait.take(make_event(200, order=1))
    assert not wait.take(make_event(300, order=2))
    assert wait.matched is not None
    assert wait.matched["data"] == {"order": 1}


@pytest.mark.parametrize(
    ("value", "data", "is_taken"),
    [
        ("1001", {"order": {"id": "1001"}}, True),
        # A template makes a text of a number.
        ("1001", {"order": {"id": 1001}}, True),
        (1001, {"order": {"id": "1001"}}, True),
        ("true", {"order": {"id": True}}, True),
        ("1001", {"order": {"id": "1002"}}, False),
        ("1001", {"order": {}}, False),
        ("1001", {}, False),
        ("1001", {"order": "1001"}, False),
        ("", {}, False),
    ],
)
def test_data_must_have_the_values_at_their_paths(value: Any, data: dict[str, Any], is_taken: bool) -> None:
    wait = make_wait(WaitRule(pairs=[("order.id", value)]))

    assert wait.take(make_event(**data)) is is_taken


def test_an_event_that_is_not_taken_is_remembered_with_the_reason() -> None:
    wait = make_wait(WaitRule(pairs=[("order", 1)]))
    wait.take(make_event(200, order=2))
    wait.take(make_event(300, order=3))

    assert wait.missed == 2
    assert wait.last_missed is not None
    assert (wait.last_missed["at"], wait.last_missed["reason"]) == (300, "'order' has another value")


def test_the_condition_sees_the_event() -> None:
    rule = WaitRule(condition={">": [{"var": "event.data.amount"}, 100]})

    assert make_wait(rule).take(make_event(amount=101))
    assert not make_wait(rule).take(make_event(amount=100))
    assert not make_wait(rule).take(make_event())


@pytest.mark.parametrize("data", [{}, {"notificationId": "run-2"}, {"notificationId": "run-1", "jobId": "job-2"}])
def test_events_of_messages_are_of_the_run_and_the_step(data: dict[str, Any]) -> None:
    rule = WaitRule(run="run-1", jobs=["job-1"])

    assert not make_wait(rule).take(make_event(**data))
    assert make_wait(rule).take(make_event(notificationId="run-1", jobId="job-1"))


@pytest.mark.parametrize(
    ("name", "is_name"),
    [
        ("order.paid", True),
        ("Order:paid/v2", True),
        ("message.read", True),
        ("message.unknown", False),
        ("", False),
        (".paid", False),
        ("{{payload.event}}", False),
        ("x" * 129, False),
    ],
)
def test_names_are_plain(name: str, is_name: bool) -> None:
    assert (find_name_problem(name) is None) is is_name
