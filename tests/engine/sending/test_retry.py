"""When and where a failed send is tried again."""

from hypothesis import given
from hypothesis import strategies as st

from clarion.clock import HOUR, MINUTE, SECOND, Millis
from clarion.engine.sending.retry import (
    MAX_PUT_OFF,
    MAX_PUT_OFF_BEFORE_NEXT,
    last_attempt_at,
    next_attempt_at,
    place_of,
    put_off_until,
    wished_pause,
)
from clarion.jobs.model import ATTEMPTS_PER_DRIVE
from clarion.providers.definition.result import FailureKind, SendFailure

NOW = Millis(1_767_225_600_000)
FAILURE = SendFailure(FailureKind.RETRYABLE, "no")


def attempts(choices: int, drive: int = 0) -> list[int]:
    """How many attempts each integration gets when all fail."""
    attempt, counts, now = drive * ATTEMPTS_PER_DRIVE, [0] * choices, NOW
    while True:
        attempt += 1
        counts[place_of(attempt)] += 1
        due_at = next_attempt_at(attempt, FAILURE, now, choices=choices)
        if due_at is None:
            return counts
        now = due_at


@given(st.integers(min_value=0, max_value=5))
def test_one_alone_is_tried_eight_times_and_each_other_three_times(drive: int) -> None:
    assert attempts(1, drive) == [8]
    assert attempts(3, drive) == [8, 3, 3]


def test_a_message_whose_integration_is_gone_by_now_is_not_tried_again() -> None:
    assert next_attempt_at(9, FAILURE, NOW, choices=2) is not None
    assert next_attempt_at(9, FAILURE, NOW, choices=1) is None


def test_eight_attempts_take_about_half_an_hour() -> None:
    now = NOW
    for attempt in range(1, 8):
        due_at = next_attempt_at(attempt, FAILURE, now)
        assert due_at is not None
        now = due_at

    assert 25 * MINUTE <= now - NOW <= 40 * MINUTE


def test_a_wish_for_patience_with_an_error_is_heeded_and_the_attempt_counts() -> None:
    failure = SendFailure(FailureKind.RETRYABLE, "busy", retry_after=600)

    assert next_attempt_at(1, failure, NOW) == NOW + 600 * SECOND
    assert next_attempt_at(8, failure, NOW) is None


def test_being_asked_to_come_back_later_is_never_the_last_attempt() -> None:
    failure = SendFailure(FailureKind.RATE_LIMITED, "later", retry_after=30)

    assert next_attempt_at(8, failure, NOW) == NOW + 30 * SECOND


@given(st.integers(min_value=0, max_value=30 * HOUR // SECOND), st.booleans())
def test_a_provider_that_asks_for_patience_for_ever_is_asked_seldom_and_not_for_ever(
    seconds: int, has_others: bool
) -> None:
    pause = wished_pause(SendFailure(FailureKind.RATE_LIMITED, "later", retry_after=seconds))
    assert pause is not None
    assert pause >= SECOND
    now, asked = NOW, 1
    while (until := put_off_until(NOW, Millis(now + pause), now, has_others=has_others)) is not None:
        assert until >= now + pause
        now, asked = until, asked + 1

    assert asked <= 120
    if not has_others:
        assert now <= NOW + 1.1 * MAX_PUT_OFF
        assert now + pause > NOW + MAX_PUT_OFF
    else:
        assert now >= NOW + MAX_PUT_OFF_BEFORE_NEXT


@given(st.integers(min_value=1, max_value=900))
def test_places_rise_one_by_one_with_the_attempts(attempt: int) -> None:
    assert place_of(last_attempt_at(attempt)) == place_of(attempt)
    assert place_of(last_attempt_at(attempt) + 1) == place_of(attempt) + 1
