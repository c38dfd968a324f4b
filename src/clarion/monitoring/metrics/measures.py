"""The measures of one process: counted since its start, by the event loop alone unless said otherwise."""

from collections import Counter
from collections.abc import Callable
from enum import StrEnum

from clarion.monitoring.metrics.histogram import BATCH_SIZES, PROVIDER_SECONDS, REQUEST_SECONDS, RUN_SECONDS, Histogram

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
        return sum(count for (_, its), count in self.messages.items() if its is outcome)
