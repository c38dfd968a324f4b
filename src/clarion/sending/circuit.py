"""The circuit breaker of an integration: closed while it works, open for a time after several failures in a row.

While it is open, messages go through other integrations of the channel. When the time is over, one message tries it:
success closes the circuit, failure opens it for longer.
"""

from msgspec import Struct

from clarion.clock import MINUTE, SECOND, Millis

FAILURES_TO_OPEN = 5
FIRST_PAUSE = Millis(10 * SECOND)
MAX_PAUSE = Millis(2 * MINUTE)
MAX_TRIAL = Millis(MINUTE)
"""A trial without a result counts as failed after this time."""


class Circuit(Struct, frozen=True, kw_only=True):
    failures: int = 0
    """In a row, failed trials included."""
    open_until: Millis | None = None
    """None while it is closed; during a trial, the end of the trial."""

    @property
    def is_well(self) -> bool:
        return self.failures == 0

    def is_open(self, now: Millis) -> bool:
        return self.open_until is not None and self.open_until > now

    def may_try(self, now: Millis) -> bool:
        """Whether it was open long enough to be tried again."""
        return self.open_until is not None and self.open_until <= now


CLOSED = Circuit()


def begin_trial(circuit: Circuit, now: Millis) -> Circuit:
    """Let one message try the integration; for the others the circuit stays open until the trial is over."""
    return Circuit(failures=circuit.failures, open_until=Millis(now + MAX_TRIAL))


def note_failure(circuit: Circuit, now: Millis, *, is_trial: bool) -> Circuit:
    if circuit.is_open(now) and not is_trial:
        # It was sent before the circuit opened, or had no other integration: nothing new.
        return circuit
    failures = circuit.failures + 1
    if failures < FAILURES_TO_OPEN:
        return Circuit(failures=failures)
    # The exponent is bounded, so that the number stays small after years of failures.
    pause = min(FIRST_PAUSE * 2 ** min(failures - FAILURES_TO_OPEN, 16), MAX_PAUSE)
    return Circuit(failures=failures, open_until=Millis(now + pause))
