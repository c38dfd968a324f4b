"""The measures of one process, and those of its database: counted since its start, by the event loop alone unless said
otherwise.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Protocol, runtime_checkable

from msgspec import Struct

REQUEST_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
PROVIDER_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
RUN_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)
COMMIT_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)
LAG_SECONDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)
BATCH_SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)


class Histogram:
    """Counts values by the first bound that is not below them. One thread observes; any thread may read."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        """The last one counts values above all bounds."""
        self.total = 0.0
        """The sum of the values."""

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def observe_all(self, values: Sequence[float]) -> None:
        bounds, counts = self.bounds, self.counts
        for value in values:
            counts[bisect_left(bounds, value)] += 1
        self.total += sum(values)

    @property
    def count(self) -> int:
        return sum(self.counts)


class PoolState(Struct, frozen=True, kw_only=True):
    """The connections of a process to its store at this moment."""

    in_use: int
    idle: int
    limit: int
    waiting: int
    """Units of work that have no connection yet."""


class DatabaseMeasures:
    """Counted by the thread that commits."""

    def __init__(self) -> None:
        self.commit_seconds = Histogram(COMMIT_SECONDS)
        """The COMMIT statement alone: how long the disk takes."""
        self.commit_sizes = Histogram(BATCH_SIZES)
        """Units of work that were committed together."""


@runtime_checkable
class MeasuredDatabase(Protocol):
    """A database that can be asked how busy it is."""

    @property
    def measures(self) -> DatabaseMeasures: ...

    def read_pool(self) -> PoolState:
        """How busy the connections of this process are at this moment."""
        ...


MAX_INTEGRATIONS = 200
"""Integrations with series of their own; identifiers are chosen by callers, so their number has to be bounded."""
OTHER = "other"


class Gauge(StrEnum):
    """What a process can be asked for at any moment."""

    SENDS_IN_FLIGHT = "sends_in_flight"
    WEBHOOKS_IN_FLIGHT = "webhooks_in_flight"
    SOCKETS = "sockets"
    CONNECTIONS = "connections"
    WAITING_REQUESTS = "waiting_requests"
    CLOCK_OFFSET = "clock_offset"


class Duplicate(StrEnum):
    """How a repeated request was recognised."""

    IDEMPOTENCY_KEY = "idempotency_key"
    TRANSACTION = "transaction"


class MessageOutcome(StrEnum):
    """What became of a message, or of one attempt to send it."""

    SENT = "sent"
    RETRIED = "retried"
    """The attempt failed, and there will be another."""
    FAILED = "failed"
    """The last attempt failed."""
    SKIPPED = "skipped"
    """Nothing was sent: no address, no integration, or a suppressed address."""


class RequestOutcome(StrEnum):
    """What became of an attempt to make the request of an HTTP step."""

    ANSWERED = "answered"
    RETRIED = "retried"
    """The attempt failed, and there will be another."""
    FAILED = "failed"
    """The last attempt failed, or its run was canceled."""


class TrackedEvent(StrEnum):
    """What links and images in e-mails told."""

    OPENED = "opened"
    CLICKED = "clicked"
    MACHINE = "machine"
    """By a program."""
    DROPPED = "dropped"
    """Too many of one message, or altogether."""


class ReplyOutcome(StrEnum):
    """What became of a mail that came in."""

    RECORDED = "recorded"
    REPEATED = "repeated"
    """It came in before."""
    UNKNOWN = "unknown"
    """It replies to nothing that is known."""
    UNREADABLE = "unreadable"
    """It is broken, or would take too long to read."""
    LIMITED = "limited"
    """Too many replies to one message came in."""


class BatchKind(StrEnum):
    """What is done for many at once."""

    REQUESTS = "requests"
    UNIT = "unit"
    SENDS = "sends"


class OperationMeasures:
    """The requests for one operation."""

    __slots__ = ("seconds", "statuses")

    def __init__(self) -> None:
        self.statuses: dict[int, int] = {}
        """How many requests had each status. Not a Counter, which takes three times as long."""
        self.seconds = Histogram(REQUEST_SECONDS)

    def note(self, status: int, seconds: float) -> None:
        self.statuses[status] = self.statuses.get(status, 0) + 1
        self.seconds.observe(seconds)


class IntegrationMeasures:
    """The calls of a provider through one integration."""

    __slots__ = ("errors", "seconds")

    def __init__(self) -> None:
        self.seconds = Histogram(PROVIDER_SECONDS)
        self.errors: Counter[str] = Counter()
        """By kind of failure."""


class Measures:
    """Everything that a process counts."""

    def __init__(self) -> None:
        self.operations: dict[str, OperationMeasures] = {}
        self.accepted_triggers = 0
        self.duplicates: Counter[Duplicate] = Counter()
        self.started_runs = 0
        self.completed_runs = 0
        self.run_seconds = Histogram(RUN_SECONDS)
        """From the trigger, or from the end of the run's last delay or digest, to the end of the run."""
        self.lane_seconds = Histogram(RUN_SECONDS)
        """From the moment at which a run was due to the end of the unit of work that decided it."""
        self.messages: Counter[tuple[str, MessageOutcome]] = Counter()
        """By channel and outcome."""
        self.integrations: dict[tuple[str, str], IntegrationMeasures] = {}
        """By provider and identifier of the integration."""
        self.webhooks: Counter[str] = Counter()
        """Attempts to deliver an event, by outcome."""
        self.step_requests: Counter[RequestOutcome] = Counter()
        """Attempts to make requests of HTTP steps."""
        self.step_request_seconds = Histogram(PROVIDER_SECONDS)
        self.replies: Counter[ReplyOutcome] = Counter()
        self.tracked: Counter[TrackedEvent] = Counter()
        self.expired_leases = 0
        """Sends that were taken over because their worker had let the lease lapse."""
        self.batches = {one: Histogram(BATCH_SIZES) for one in BatchKind}
        self.gauges: dict[Gauge, Callable[[], float]] = {}

    def operation(self, name: str) -> OperationMeasures:
        """The measures of an operation; its name is one of a closed list."""
        measures = self.operations.get(name)
        if measures is None:
            measures = self.operations[name] = OperationMeasures()
        return measures

    def integration(self, provider_id: str, identifier: str) -> IntegrationMeasures:
        """The measures of an integration; beyond the limit, those that all others share."""
        key = (provider_id, identifier)
        measures = self.integrations.get(key)
        if measures is None:
            if len(self.integrations) >= MAX_INTEGRATIONS:
                key = (OTHER, OTHER)
            measures = self.integrations.setdefault(key, IntegrationMeasures())
        return measures

    def watch(self, gauge: Gauge, read: Callable[[], float]) -> None:
        self.gauges[gauge] = read

    def count_messages(self, outcome: MessageOutcome) -> int:
        """Of all channels."""
        return sum(count for (_, kind), count in self.messages.items() if kind is outcome)
