"""The health of integrations: circuit breakers as a state machine, and how long rate limits and pauses let one wait."""

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from clarion.clock import MINUTE, SECOND, Millis
from clarion.sending.health import (
    CLOSED,
    FAILURES_TO_OPEN,
    FIRST_PAUSE,
    FULL,
    MAX_PAUSE,
    MAX_TRIAL,
    Circuit,
    TokenBucket,
)

NOW = Millis(1_000_000)


def failing(times: int, now: Millis = NOW) -> Circuit:
    circuit = CLOSED
    for _ in range(times):
        circuit = circuit.count_failure(now, is_trial=False)
    return circuit


def test_failures_in_a_row_open_it_and_one_less_does_not() -> None:
    assert not failing(FAILURES_TO_OPEN - 1).is_open(NOW)
    assert failing(FAILURES_TO_OPEN).is_open(NOW)


def test_five_failures_open_it_for_ten_seconds_and_at_most_for_two_minutes() -> None:
    circuit = failing(5)
    assert (failing(4).open_until, circuit.open_until) == (None, NOW + 10 * SECOND)
    assert (circuit.is_half_open(Millis(NOW + 10 * SECOND - 1)), circuit.is_half_open(Millis(NOW + 10 * SECOND))) == (
        False,
        True,
    )
    assert (circuit.is_open(Millis(NOW + 10 * SECOND - 1)), circuit.is_open(Millis(NOW + 10 * SECOND))) == (True, False)

    long_failing = Circuit(failures=500)
    assert long_failing.count_failure(NOW, is_trial=True).open_until == NOW + 120 * SECOND
    assert circuit.begin_trial(NOW).open_until == NOW + 60 * SECOND


def test_only_a_circuit_without_failures_is_not_failing() -> None:
    assert not CLOSED.is_failing
    assert failing(1).is_failing
    assert not CLOSED.is_half_open(NOW)
    assert not CLOSED.is_open(NOW)


def test_the_failures_of_what_was_under_way_when_it_opened_change_nothing() -> None:
    assert failing(500) == failing(FAILURES_TO_OPEN)


def test_each_trial_that_fails_keeps_it_open_for_longer_up_to_a_bound() -> None:
    circuit, pauses, now = failing(FAILURES_TO_OPEN), [], NOW
    for _ in range(40):
        assert circuit.open_until is not None
        pauses.append(circuit.open_until - now)
        now = circuit.open_until
        circuit = circuit.begin_trial(now).count_failure(now, is_trial=True)

    assert pauses[0] == FIRST_PAUSE
    assert pauses[:3] == [FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE]
    assert pauses == sorted(pauses)
    assert pauses[-1] == MAX_PAUSE


def test_a_trial_that_nobody_tells_the_end_of_lets_another_one_begin() -> None:
    circuit = failing(FAILURES_TO_OPEN)
    later = Millis(NOW + FIRST_PAUSE)
    tried = circuit.begin_trial(later)

    assert not tried.is_half_open(later)
    assert tried.is_half_open(Millis(later + MAX_TRIAL))


@given(st.integers(min_value=0, max_value=10_000))
def test_no_number_of_failures_is_too_large(failures: int) -> None:
    circuit = Circuit(failures=failures).count_failure(NOW, is_trial=True)

    assert circuit.open_until is None or circuit.open_until <= NOW + MAX_PAUSE


class Breaker(RuleBasedStateMachine):
    """Senders that follow the circuit, and some that go on regardless, in any order and at any time."""

    def __init__(self) -> None:
        super().__init__()
        self.now = NOW
        self.circuit = CLOSED
        self.in_a_row = 0
        self.trials: list[Millis] = []

    @rule(seconds=st.integers(min_value=0, max_value=200))
    def time_passes(self, seconds: int) -> None:
        self.now = Millis(self.now + seconds * SECOND)

    @rule()
    def a_send_works(self) -> None:
        self.circuit, self.in_a_row = CLOSED, 0
        self.trials.clear()

    @rule()
    def a_send_fails(self) -> None:
        was_open = self.circuit.is_open(self.now)
        self.circuit = self.circuit.count_failure(self.now, is_trial=False)
        self.in_a_row += not was_open

    @precondition(lambda self: self.circuit.is_half_open(self.now))
    @rule()
    def a_trial_begins(self) -> None:
        self.circuit = self.circuit.begin_trial(self.now)
        self.trials = [one for one in self.trials if one > self.now] + [Millis(self.now + MAX_TRIAL)]

    @precondition(lambda self: self.trials)
    @rule()
    def a_trial_fails(self) -> None:
        self.trials.pop(0)
        self.circuit = self.circuit.count_failure(self.now, is_trial=True)
        self.in_a_row += 1

        assert self.circuit.is_open(self.now)

    @invariant()
    def it_is_open_only_after_enough_failures(self) -> None:
        assert self.circuit.open_until is None or self.in_a_row >= FAILURES_TO_OPEN
        assert self.circuit.failures == self.in_a_row

    @invariant()
    def it_is_never_open_for_longer_than_the_longest_pause(self) -> None:
        assert self.circuit.open_until is None or self.circuit.open_until - self.now <= MAX_PAUSE

    @invariant()
    def one_trial_goes_on_at_a_time(self) -> None:
        under_way = [one for one in self.trials if one > self.now]
        assert not under_way or self.circuit.is_open(self.now) or self.circuit == CLOSED or len(under_way) == 1


TestBreaker = Breaker.TestCase


def test_the_first_second_may_be_spent_at_once_and_the_rest_comes_one_by_one() -> None:
    bucket, waits = FULL, []
    for _ in range(6):
        waits.append(bucket.wait(2.0, NOW))
        bucket = bucket.take(2.0, NOW)

    assert waits == [0, 0, 501, 1001, 1501, 2001]


def test_without_a_limit_nobody_waits_and_nothing_is_counted() -> None:
    assert FULL.wait(None, NOW) == 0
    assert FULL.take(None, NOW) == FULL


def test_a_pause_holds_with_and_without_a_limit_and_ends() -> None:
    paused = FULL.pause(Millis(NOW + MINUTE))

    assert paused.wait(None, NOW) == MINUTE
    assert paused.wait(10.0, NOW) > MINUTE
    assert paused.wait(None, Millis(NOW + MINUTE)) == 0
    assert paused.wait(10.0, Millis(NOW + MINUTE + SECOND)) == 0


def test_less_than_one_message_a_second_is_one_every_so_often() -> None:
    bucket = FULL.take(0.1, NOW)

    assert bucket.wait(0.1, NOW) == 10 * SECOND + 1


@given(
    rate=st.floats(min_value=0.5, max_value=500),
    gaps=st.lists(st.integers(min_value=0, max_value=3_000), min_size=1, max_size=200),
)
def test_no_second_sees_more_than_twice_the_limit_however_they_come(rate: float, gaps: list[int]) -> None:
    bucket, now, moments = FULL, NOW, []
    for gap in gaps:
        now = Millis(now + gap)
        moments.append(now + bucket.wait(rate, now))
        bucket = bucket.take(rate, now)

    moments.sort()
    for moment in moments:
        within = sum(moment <= one < moment + SECOND for one in moments)
        assert within <= 2 * max(rate, 1) + 1


@given(st.floats(min_value=0.001, max_value=1_000_000), st.integers(min_value=-(10**9), max_value=10**9))
def test_a_wait_is_never_negative_whatever_the_clocks_of_workers_say(rate: float, skew: int) -> None:
    bucket = TokenBucket(tokens=0.5, refilled_at=Millis(NOW + skew))

    assert bucket.wait(rate, NOW) >= 0
    assert bucket.take(rate, NOW).wait(rate, NOW) >= bucket.wait(rate, NOW)
