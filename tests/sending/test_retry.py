"""When and where a failed send is tried again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.clock import HOUR, MINUTE, SECOND, Millis
from clarion.jobs.model import ATTEMPTS_PER_DRIVE
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.sending.retry import (
    MAX_PUT_OFF,
    MAX_PUT_OFF_BEFORE_NEXT,
    is_retryable,
    last_attempt_at,
    next_attempt_at,
    place_of,
    put_off_until,
    requested_pause,
    uses_attempt,
)

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
    pause = requested_pause(SendFailure(FailureKind.RATE_LIMITED, "later", retry_after=seconds))
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


@pytest.mark.parametrize("attempt", range(1, 8))
def test_pauses_double_from_a_quarter_of_a_minute_on_and_vary_by_a_fifth(attempt: int) -> None:
    usual = 15 * SECOND * 2 ** (attempt - 1)
    pauses = [(next_attempt_at(attempt, FAILURE, NOW) or 0) - NOW for _ in range(300)]

    assert 0.8 * usual - 1 <= min(pauses) < 0.87 * usual
    assert 1.13 * usual < max(pauses) <= 1.2 * usual


@pytest.mark.parametrize(("attempt", "usual"), [(8, 15), (9, 15), (10, 30), (11, 15), (12, 15), (13, 30)])
def test_pauses_begin_anew_on_the_next_integration(attempt: int, usual: int) -> None:
    due_at = next_attempt_at(attempt, FAILURE, NOW, choices=3)

    assert due_at is not None
    assert 0.8 * usual * SECOND - 1 <= due_at - NOW <= 1.2 * usual * SECOND


@pytest.mark.parametrize(("wished", "seconds"), [(-5, 1), (0, 1), (1, 1), (90, 90), (86_400, 86_400), (86_401, 86_400)])
def test_a_provider_is_left_alone_for_a_second_at_least_and_a_day_at_most(wished: int, seconds: int) -> None:
    failure = SendFailure(FailureKind.RATE_LIMITED, "later", retry_after=wished)

    assert requested_pause(failure) == seconds * SECOND
    assert next_attempt_at(1, failure, NOW) == NOW + seconds * SECOND


def test_a_message_that_got_no_connection_is_tried_again_after_five_seconds_however_often() -> None:
    failure = SendFailure(FailureKind.NO_CONNECTION, "full")

    assert [next_attempt_at(attempt, failure, NOW) for attempt in (1, 8, 500)] == [NOW + 5 * SECOND] * 3
    assert is_retryable(failure)
    assert not uses_attempt(failure)


@pytest.mark.parametrize(
    ("kind", "retry_after", "retries", "uses"),
    [
        (FailureKind.RETRYABLE, None, True, True),
        (FailureKind.RETRYABLE, 5, True, True),
        (FailureKind.RATE_LIMITED, None, True, True),
        (FailureKind.RATE_LIMITED, 0, True, False),
        (FailureKind.RATE_LIMITED, 5, True, False),
        (FailureKind.PERMANENT, None, False, True),
        (FailureKind.RECIPIENT_INVALID, None, False, True),
    ],
)
def test_which_failures_are_tried_again_and_which_count(
    kind: FailureKind, retry_after: int | None, retries: bool, uses: bool
) -> None:
    failure = SendFailure(kind, "no", retry_after=retry_after)

    assert (is_retryable(failure), uses_attempt(failure)) == (retries, uses)


def test_a_message_is_put_off_for_a_day_and_for_a_quarter_of_an_hour_where_there_are_others() -> None:
    day, quarter = 24 * HOUR, 15 * MINUTE

    def put_off(now: int, shown: int, *, has_others: bool) -> Millis | None:
        return put_off_until(NOW, Millis(NOW + shown), Millis(NOW + now), has_others=has_others)

    assert put_off(0, day, has_others=False) == NOW + day
    assert put_off(0, day + 1, has_others=False) is None
    assert put_off(quarter - 1, quarter, has_others=True) is not None
    assert put_off(quarter, quarter, has_others=True) is None
    # A tenth of what it has waited already.
    assert put_off(10 * HOUR, 10 * HOUR + 1, has_others=False) == NOW + 11 * HOUR
