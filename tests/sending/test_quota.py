"""Rate limits and pauses: how long whoever comes next has to wait."""

from hypothesis import given
from hypothesis import strategies as st

from clarion.clock import MINUTE, SECOND, Millis
from clarion.sending.quota import FULL, QuotaBucket, pause, take, wait_of

NOW = Millis(1_767_225_600_000)


def test_the_first_second_may_be_spent_at_once_and_the_rest_comes_one_by_one() -> None:
    bucket, waits = FULL, []
    for _ in range(6):
        waits.append(wait_of(bucket, 2.0, NOW))
        bucket = take(bucket, 2.0, NOW)

    assert waits == [0, 0, 501, 1001, 1501, 2001]


def test_without_a_limit_nobody_waits_and_nothing_is_counted() -> None:
    assert wait_of(FULL, None, NOW) == 0
    assert take(FULL, None, NOW) == FULL


def test_a_pause_holds_with_and_without_a_limit_and_ends() -> None:
    paused = pause(FULL, Millis(NOW + MINUTE))

    assert wait_of(paused, None, NOW) == MINUTE
    assert wait_of(paused, 10.0, NOW) > MINUTE
    assert wait_of(paused, None, Millis(NOW + MINUTE)) == 0
    assert wait_of(paused, 10.0, Millis(NOW + MINUTE + SECOND)) == 0


def test_less_than_one_message_a_second_is_one_every_so_often() -> None:
    bucket = take(FULL, 0.1, NOW)

    assert wait_of(bucket, 0.1, NOW) == 10 * SECOND + 1


@given(
    rate=st.floats(min_value=0.5, max_value=500),
    gaps=st.lists(st.integers(min_value=0, max_value=3_000), min_size=1, max_size=200),
)
def test_no_second_sees_more_than_twice_the_limit_however_they_come(rate: float, gaps: list[int]) -> None:
    bucket, now, moments = FULL, NOW, []
    for gap in gaps:
        now = Millis(now + gap)
        moments.append(now + wait_of(bucket, rate, now))
        bucket = take(bucket, rate, now)

    moments.sort()
    for moment in moments:
        within = sum(moment <= one < moment + SECOND for one in moments)
        assert within <= 2 * max(rate, 1) + 1


@given(st.floats(min_value=0.001, max_value=1_000_000), st.integers(min_value=-(10**9), max_value=10**9))
def test_a_wait_is_never_negative_whatever_the_clocks_of_workers_say(rate: float, skew: int) -> None:
    bucket = QuotaBucket(allowance=0.5, refilled_at=Millis(NOW + skew))

    assert wait_of(bucket, rate, NOW) >= 0
    assert wait_of(take(bucket, rate, NOW), rate, NOW) >= wait_of(bucket, rate, NOW)
