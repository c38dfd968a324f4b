"""The circuit of an integration: closed while it works, open for a time after failures in a row, then tried by one.

While it is open, messages that another integration may carry pass it by. When the time is over one message tries it:
its success closes the circuit, its failure opens it for longer.
"""

from msgspec import Struct

from clarion.clock import MINUTE, SECOND, Millis

FAILURES_TO_OPEN = 5
FIRST_PAUSE = Millis(10 * SECOND)
MAX_PAUSE = Millis(2 * MINUTE)
MAX_TRIAL = Millis(MINUTE)
"""A trial that nobody tells the end of is taken to have failed after this time."""


class Circuit(Struct, frozen=True, kw_only=True):
    failures: int = 0
    """In a row; each beyond those that opened it is a trial that failed."""
    open_until: Millis | None = None
    """None while it is closed; while it is tried, when the trial is over at the latest."""

    @property
    def is_well(self) -> bool:
        return self.failures == 0

    def is_open(self, now: Millis) -> bool:
        return self.open_until is not None and self.open_until > now

    def may_try(self, now: Millis) -> bool:
        """Whether it was open long enough, and somebody should find out if it works again."""
        return self.open_until is not None and self.open_until <= now


CLOSED = Circuit()


def begin_trial(circuit: Circuit, now: Millis) -> Circuit:
    """For the one message that tries: the others find the circuit open until the trial is over."""
    return Circuit(failures=circuit.failures, open_until=Millis(now + MAX_TRIAL))


def note_failure(circuit: Circuit, now: Millis, *, is_trial: bool) -> Circuit:
    if circuit.is_open(now) and not is_trial:
        # It left before the circuit opened, or had nowhere else to go: nothing new.
        return circuit
    failures = circuit.failures + 1
    if failures < FAILURES_TO_OPEN:
        return Circuit(failures=failures)
    # The exponent is bounded so that years of failures do not make a number of years.
    pause = min(FIRST_PAUSE * 2 ** min(failures - FAILURES_TO_OPEN, 16), MAX_PAUSE)
    return Circuit(failures=failures, open_until=Millis(now + pause))
