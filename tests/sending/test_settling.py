"""What a job comes to after an attempt, and which integration a message is tried with, as rules without a store."""

from typing import Any

import pytest
from msgspec.structs import replace

from clarion.clock import HOUR, MINUTE, SECOND, Millis
from clarion.ids import MessageId, SubscriberId, TriggerId
from clarion.integrations.model import Integration
from clarion.providers.definition.result import FailureKind, SendFailure, mark_ambiguous
from clarion.sending.dead_letters.model import POSSIBLY_DELIVERED
from clarion.sending.deliver import _passes_on, _report_health
from clarion.sending.health import Circuit, IntegrationHealth, TokenBucket
from clarion.sending.model import ClaimedSend, NotSent, OutgoingMessage, PassedOver, Route, SendOutcome
from clarion.sending.planning import HealthSnapshot, plan_send
from clarion.sending.retry import MAX_WAIT, settle
from clarion.vocabulary import Channel, JobStatus, MessageStatus
from tests.sending.test_places import make_send
from tests.sending.test_planning import make_integration

NOW = Millis(1_767_225_600_000)
BUSY = SendFailure(FailureKind.RETRYABLE, "busy")
REFUSED = SendFailure(FailureKind.PERMANENT, "refused")
FULL = SendFailure(FailureKind.NO_CONNECTION, "full")
FIRST, SECOND_ID = MessageId(b"1" * 16), MessageId(b"2" * 16)


def later(seconds: int) -> SendFailure:
    return SendFailure(FailureKind.RATE_LIMITED, "later", retry_after=seconds)


def make_message(message_id: MessageId = FIRST, **fields: Any) -> OutgoingMessage:
    usual: dict[str, Any] = dict.fromkeys(OutgoingMessage.__struct_fields__) | {"refused_by": ()}
    usual |= {"id": message_id, "trigger_id": TriggerId(bytes(16)), "subscriber_id": SubscriberId(bytes(16))}
    return OutgoingMessage(**usual | {"channel": Channel.EMAIL, "content": "", "is_sent": False} | fields)


def attempt(
    results: dict[MessageId, SendFailure | None], *, number: int = 1, choices: int = 1, **fields: Any
) -> ClaimedSend:
    """A job after an attempt; a message without a failure was sent."""
    send = make_send()
    send.job.attempt, send.choices = number, choices
    send.messages = [make_message(one) for one in results]
    send.planned = {one: Route(integrations=[A, B][:choices]) for one in results}
    for message_id, failure in results.items():
        status = MessageStatus.SENT if failure is None else MessageStatus.ERROR
        send.outcomes[message_id] = SendOutcome(status=status, provider_id="p")
        if failure is not None:
            send.not_sent[message_id] = NotSent(failure)
    for name, value in fields.items():
        setattr(send, name, value)
    settle(send, NOW)
    return send


def test_a_job_whose_messages_were_sent_is_completed() -> None:
    send = attempt({FIRST: None, SECOND_ID: None})

    assert (send.job.status, send.job.due_at, send.dead_at, send.job.attempt) == (JobStatus.COMPLETED, None, None, 1)
    assert send.job.details == []


def test_a_job_whose_only_message_failed_for_good_fails_and_is_a_dead_letter() -> None:
    send = attempt({FIRST: REFUSED})

    assert (send.job.status, send.dead_at, send.retry_at) == (JobStatus.FAILED, NOW, {})


def test_a_job_with_a_message_that_failed_for_good_is_completed_if_another_was_sent_and_names_it() -> None:
    send = attempt({FIRST: None, SECOND_ID: REFUSED})

    (detail,) = send.job.details
    assert (send.job.status, send.dead_at, send.job.provider_id) == (JobStatus.COMPLETED, NOW, "p")
    assert [one["providerId"] for one in detail.raw["messages"]] == ["p"]


def test_a_job_counts_what_earlier_attempts_sent_and_gave_up() -> None:
    given_up = make_message(SECOND_ID, provider_id="q")

    assert attempt({FIRST: REFUSED}, has_sent=True).job.status is JobStatus.COMPLETED
    send = attempt({FIRST: None}, given_up=(given_up,))
    assert (send.job.status, send.dead_at, send.job.provider_id) == (JobStatus.COMPLETED, NOW, "q")
    assert attempt({}, given_up=(given_up,)).dead_at == NOW


def test_a_suppressed_address_and_a_dead_device_are_no_dead_letters() -> None:
    gone = SendFailure(FailureKind.RECIPIENT_INVALID, "gone")
    gone.dead_tokens = ("t",)
    suppressed = attempt({FIRST: None}, not_sent={SECOND_ID: NotSent()})

    assert (attempt({FIRST: gone}).job.status, attempt({FIRST: gone}).dead_at) == (JobStatus.FAILED, None)
    assert (suppressed.job.status, suppressed.dead_at) == (JobStatus.COMPLETED, None)


def test_a_message_that_may_succeed_is_tried_again_and_uses_the_attempt() -> None:
    send = attempt({FIRST: None, SECOND_ID: BUSY})

    assert (send.job.status, send.job.attempt, send.dead_at) == (JobStatus.QUEUED, 1, None)
    assert list(send.retry_at) == [SECOND_ID]
    assert send.job.due_at == send.retry_at[SECOND_ID] > NOW


def test_messages_that_failed_together_are_tried_again_together() -> None:
    send = attempt({FIRST: BUSY, SECOND_ID: SendFailure(FailureKind.RETRYABLE, "busy", retry_after=600)})

    assert send.retry_at == dict.fromkeys((FIRST, SECOND_ID), Millis(NOW + 600 * SECOND))


@pytest.mark.parametrize(("number", "choices", "is_last"), [(7, 1, False), (8, 1, True), (8, 2, False), (11, 2, True)])
def test_the_last_attempt_of_the_last_integration_ends_the_job(number: int, choices: int, is_last: bool) -> None:
    send = attempt({FIRST: BUSY}, number=number, choices=choices)

    assert (send.job.status, send.dead_at) == ((JobStatus.FAILED, NOW) if is_last else (JobStatus.QUEUED, None))


@pytest.mark.parametrize("failure", [later(30), FULL])
def test_a_message_that_is_put_off_uses_no_attempt(failure: SendFailure) -> None:
    send = attempt({FIRST: failure}, number=3)

    assert (send.job.status, send.job.attempt) == (JobStatus.QUEUED, 2)
    assert send.retry_at == {FIRST: NOW + (5 if failure is FULL else 30) * SECOND}
    assert send.put_off_since == (None if failure is FULL else NOW)


def test_a_message_that_is_put_off_beside_one_that_failed_waits_for_itself_alone() -> None:
    send = attempt({FIRST: BUSY, SECOND_ID: later(7200)}, number=3)

    assert send.retry_at[SECOND_ID] == NOW + 2 * HOUR
    assert send.job.due_at == send.retry_at[FIRST] < send.retry_at[SECOND_ID]
    assert send.job.attempt == 3


def test_a_message_that_was_put_off_for_too_long_is_given_up_or_goes_to_the_next_integration() -> None:
    since = Millis(NOW - 24 * HOUR)
    alone = attempt({FIRST: later(30)}, number=2, put_off_since=since)
    with_others = attempt({FIRST: later(30)}, number=2, choices=2, put_off_since=Millis(NOW - 15 * MINUTE))

    assert (alone.job.status, alone.dead_at, alone.put_off_since) == (JobStatus.FAILED, NOW, None)
    assert [one.detail for one in alone.job.details] == ["Put off by the provider for too long"]
    assert (with_others.job.status, with_others.job.attempt, with_others.job.due_at) == (JobStatus.QUEUED, 8, NOW)
    assert (with_others.retry_at, with_others.put_off_since) == ({FIRST: NOW}, None)


@pytest.mark.parametrize(("seconds", "waits"), [(10, True), (11, False)])
def test_a_long_wait_lets_another_integration_take_over_at_once(seconds: int, waits: bool) -> None:
    send = attempt({FIRST: later(seconds)}, choices=2)

    assert send.retry_at == {FIRST: NOW + seconds * SECOND if waits else NOW}


def test_a_message_that_goes_elsewhere_is_claimed_again_at_once_and_a_refusal_uses_no_attempt_of_the_others() -> None:
    busy = attempt({FIRST: BUSY}, number=2, choices=2, not_sent={FIRST: NotSent(BUSY, goes_elsewhere=True)})
    refused = attempt(
        {FIRST: REFUSED},
        number=2,
        choices=2,
        not_sent={FIRST: NotSent(REFUSED, goes_elsewhere=True)},
        refusals={FIRST: [A.id]},
    )

    assert (busy.job.status, busy.job.attempt, busy.job.due_at) == (JobStatus.QUEUED, 2, NOW)
    assert (refused.job.status, refused.job.attempt, refused.job.due_at) == (JobStatus.QUEUED, 1, NOW)


def test_a_message_waits_for_the_one_that_paused_if_the_others_refused_it() -> None:
    send = attempt({FIRST: later(120)}, choices=2, refusals={FIRST: [A.id]})

    assert (send.retry_at, send.job.attempt) == ({FIRST: NOW + 120 * SECOND}, 0)


def test_what_an_attempt_did_not_come_to_is_due_at_once_and_what_waits_at_its_own_moment() -> None:
    waiting = make_message(SECOND_ID, retry_at=Millis(NOW + MINUTE))
    stopped = attempt({}, messages=[make_message()], number=2)
    waits = attempt({FIRST: None}, waiting=(waiting,), number=2)

    assert (stopped.job.status, stopped.job.due_at, stopped.job.attempt) == (JobStatus.QUEUED, NOW, 1)
    assert (waits.job.status, waits.job.due_at, waits.job.attempt) == (JobStatus.QUEUED, NOW + MINUTE, 1)


A, B = make_integration("a", primary=True, priority=2), make_integration("b", priority=1)
OPEN = IntegrationHealth(circuit=Circuit(failures=5, open_until=Millis(NOW + 1)))
DUE = IntegrationHealth(circuit=Circuit(failures=5, open_until=NOW))


def paused(milliseconds: int) -> IntegrationHealth:
    return IntegrationHealth(bucket=TokenBucket(tokens=0.0, refilled_at=Millis(NOW + milliseconds)))


def plan(
    *health: IntegrationHealth | None, integrations: tuple[Integration, ...] = (A, B), **fields: Any
) -> tuple[Route, int]:
    """The route of a message and its wait, where this is known of the first and the second integration."""
    send = make_send()
    send.integrations, send.messages = integrations, [make_message(**fields)]
    known = {one.id: its for one, its in zip((A, B), health, strict=False) if its is not None}
    wait = plan_send(send, HealthSnapshot(known, NOW))
    return send.planned[FIRST], wait


def names(route: Route) -> list[str]:
    return [one.identifier for one in route.integrations]


def test_the_first_in_order_is_tried_first_while_nothing_is_known_against_it() -> None:
    for health in ((), (None, OPEN), (IntegrationHealth(),)):
        route, wait = plan(*health)
        assert (names(route), wait, route.passed_over, route.is_trial) == (["a", "b"], 0, {}, False)


def test_one_that_failed_too_often_is_passed_over_and_comes_last() -> None:
    route, wait = plan(OPEN)

    assert (names(route), wait, route.is_trial) == (["b", "a"], 0, False)
    assert route.passed_over == {"a": "failed too often, and rests"}
    assert route.failing == {A.id}


def test_one_alone_or_one_of_those_that_all_rest_is_tried_all_the_same() -> None:
    assert names(plan(OPEN, integrations=(A,))[0]) == ["a"]
    assert names(plan(OPEN, OPEN)[0]) == ["a", "b"]


def test_one_that_has_rested_is_tried_out_where_there_is_another() -> None:
    assert plan(DUE)[0].is_trial
    assert not plan(DUE, integrations=(A,))[0].is_trial
    assert not plan(replace(DUE, bucket=paused(5).bucket))[0].is_trial


@pytest.mark.parametrize(
    ("pause", "order", "waited"), [(MAX_WAIT, ["a", "b"], MAX_WAIT), (MAX_WAIT + 1, ["b", "a"], 0)]
)
def test_a_message_waits_ten_seconds_for_the_first_in_order_and_no_longer(
    pause: int, order: list[str], waited: int
) -> None:
    route, wait = plan(paused(pause))

    assert (names(route), wait) == (order, waited)
    assert route.passed_over == ({} if order[0] == "a" else {"a": PassedOver.PAUSED})
    assert MAX_WAIT == 10 * SECOND


def test_where_all_have_to_wait_for_long_the_shortest_wait_counts() -> None:
    route, wait = plan(paused(3 * MAX_WAIT), paused(2 * MAX_WAIT))

    assert (names(route), wait) == (["b", "a"], 2 * MAX_WAIT)


def test_one_that_refused_the_message_is_not_asked_again() -> None:
    assert names(plan(refused_by=(A.id,))[0]) == ["b"]
    assert names(plan(OPEN, OPEN, refused_by=(B.id,))[0]) == ["a"]
    assert plan(None, paused(2 * MAX_WAIT), refused_by=(A.id,))[1] == 2 * MAX_WAIT


def test_the_route_names_those_that_pause() -> None:
    assert plan(None, paused(1))[0].paused == {B.id}
    assert plan(OPEN, DUE)[0].paused == frozenset()


def test_a_message_waits_longer_each_time_for_a_pause_that_others_make_last() -> None:
    send = make_send()
    send.integrations, send.messages = (A,), [make_message()]
    first = plan_send(send, HealthSnapshot({A.id: paused(1_000)}, NOW))
    since = send.put_off_since
    send.put_off_since = Millis(NOW - HOUR)

    assert (first, since) == (1_000, NOW)
    assert plan_send(send, HealthSnapshot({A.id: paused(1_000)}, NOW)) == HOUR // 10


def test_a_message_that_may_have_arrived_goes_to_the_same_integration_if_that_recognises_it() -> None:
    hook = replace(B, provider_id="email-webhook")
    unsure = {"error_id": POSSIBLY_DELIVERED, "integration_id": B.id}

    assert names(plan(integrations=(A, hook), **unsure)[0]) == ["b", "a"]
    assert names(plan(integrations=(A, B), **unsure)[0]) == ["a", "b"]
    assert names(plan(integrations=(A, hook), **unsure | {"error_id": "other"})[0]) == ["a", "b"]
    assert names(plan(integrations=(A, hook), **unsure | {"integration_id": A.id})[0]) == ["a", "b"]


@pytest.mark.parametrize(
    ("failure", "is_working", "pause"),
    [
        (BUSY, False, None),
        (REFUSED, True, None),
        (SendFailure(FailureKind.RECIPIENT_INVALID, "nobody"), True, None),
        (SendFailure(FailureKind.RATE_LIMITED, "later"), True, None),
        (later(60), True, MINUTE),
        (later(3600), True, 15 * MINUTE),
        (SendFailure(FailureKind.RETRYABLE, "busy", retry_after=60), False, None),
    ],
)
def test_what_a_failure_says_about_its_integration(failure: SendFailure, is_working: bool, pause: int | None) -> None:
    report = _report_health(A, failure, NOW, is_trial=True)

    assert (report.integration_id, report.is_working, report.is_trial) == (A.id, is_working, True)
    assert report.wait_until == (None if pause is None else NOW + pause)


def test_only_what_is_refused_or_fails_a_trial_is_passed_on_at_once() -> None:
    lost = mark_ambiguous(SendFailure(FailureKind.RETRYABLE, "lost"))

    assert [_passes_on(one, is_trial=False) for one in (REFUSED, BUSY, lost, FULL, later(1))] == [True] + [False] * 4
    assert [_passes_on(one, is_trial=True) for one in (REFUSED, BUSY, lost, FULL, later(1))] == [True] * 2 + [False] * 3
