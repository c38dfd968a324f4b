"""Metrics in the form of prometheus-client, made from the measures of a process when they are asked for.

The package is imported only then: a process that nobody watches neither loads it nor keeps its objects.
"""

from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

from msgspec import Struct

from clarion import __version__
from clarion.background import Supervisor
from clarion.clock import Millis
from clarion.monitoring.metrics import (
    DatabaseMeasures,
    Duplicate,
    Gauge,
    Histogram,
    MeasuredDatabase,
    Measures,
    MessageOutcome,
    PoolState,
    ReplyOutcome,
    RequestOutcome,
    TrackedEvent,
)
from clarion.monitoring.store_state import StoreState
from clarion.monitoring.watchdog import LoopWatchdog
from clarion.vocabulary import Channel

if TYPE_CHECKING:
    from prometheus_client.core import Metric

_GAUGES = {
    Gauge.SENDS_IN_FLIGHT: ("clarion_sends_in_flight", "Sends that this process has claimed and not yet recorded."),
    Gauge.WEBHOOKS_IN_FLIGHT: ("clarion_webhooks_in_flight", "Webhook events that this process is posting."),
    Gauge.SOCKETS: ("clarion_sockets_open", "Open sockets of inboxes."),
    Gauge.CONNECTIONS: ("clarion_http_connections_open", "Open HTTP connections."),
    Gauge.WAITING_REQUESTS: ("clarion_http_requests_waiting", "Requests that wait for the store to write."),
    Gauge.CLOCK_OFFSET: (
        "clarion_clock_offset_seconds",
        "How far the clock of the machine is ahead of the one that the process goes by: on PostgreSQL the server's.",
    ),
}
_OUTCOMES: dict[Channel, tuple[MessageOutcome, ...]] = {
    Channel.IN_APP: (MessageOutcome.SENT,),
    **{one: tuple(MessageOutcome) for one in Channel if one is not Channel.IN_APP},
}
Samples = Iterable[tuple[tuple[str, ...], float]]


class ProcessState(Struct, frozen=True, kw_only=True):
    """Everything that is rendered, at one moment."""

    kind: str
    now: Millis
    measures: Measures
    database: MeasuredDatabase | None
    watchdog: LoopWatchdog
    background: Supervisor
    is_ready: bool
    store: StoreState | None
    """None if it cannot be read."""


def render_metrics(state: ProcessState) -> bytes:
    """The metrics in Prometheus' text format."""
    from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest  # noqa: PLC0415

    registry = CollectorRegistry(auto_describe=False)
    ProcessCollector(registry=registry)
    registry.register(_Families(state))
    return generate_latest(registry)


class _Families:
    def __init__(self, state: ProcessState) -> None:
        self._state = state

    def describe(self) -> Iterable["Metric"]:
        """Nothing: the registry is made for one rendering, and need not look for families of the same name."""
        return ()

    def collect(self) -> Iterator["Metric"]:
        state = self._state
        yield _gauge("clarion_build_info", "The version and kind of the process.", ("version", "kind"), [
            ((__version__, state.kind), 1)
        ])  # fmt: skip
        yield _gauge("clarion_ready", "Whether the process is ready, as /ready says.", (), [((), state.is_ready)])
        yield from _requests(state.measures)
        yield from _work(state.measures)
        yield from _providers(state.measures)
        yield from _gauges(state.measures)
        if state.database is not None:
            yield from _database(state.database.measures, state.database.read_pool())
        yield from _loop(state.watchdog)
        yield from _background(state.background)
        if state.store is not None:
            yield from _store(state.store, state.now)


def _requests(measures: Measures) -> Iterator["Metric"]:
    operations = sorted(measures.operations.items())
    yield _counter(
        "clarion_http_requests",
        "Requests by operation and status; operations as in the API description.",
        ("operation", "status"),
        [((name, str(status)), count) for name, one in operations for status, count in sorted(one.statuses.items())],
    )
    yield _histogram(
        "clarion_http_request_duration_seconds",
        "Time from the head of a request to its response.",
        ("operation",),
        [((name,), one.seconds) for name, one in operations],
    )


def _work(measures: Measures) -> Iterator["Metric"]:
    yield _counter("clarion_triggers_accepted", "Triggers that were stored.", (), [((), measures.accepted_triggers)])
    yield _counter(
        "clarion_duplicates_refused",
        "Repeated requests: replayed by idempotency key, or of a transaction seen before.",
        ("kind",),
        [((one,), measures.duplicates[one]) for one in Duplicate],
    )
    yield _counter(
        "clarion_tracked_visits",
        "Opens and clicks that links and images in e-mails told of; those of programs, and those that were dropped.",
        ("kind",),
        [((one,), measures.tracked[one]) for one in TrackedEvent],
    )
    yield _counter(
        "clarion_replies",
        "Mails that came in, by what became of them; unknown ones reply to no message of the environment.",
        ("outcome",),
        [((one,), measures.replies[one]) for one in ReplyOutcome],
    )
    yield _counter("clarion_runs_started", "Runs: a workflow for one person.", (), [((), measures.started_runs)])
    yield _counter("clarion_runs_completed", "Runs with nothing left to do.", (), [((), measures.completed_runs)])
    yield _histogram(
        "clarion_run_duration_seconds",
        "From the trigger, or from the end of the last delay or digest, to the end of the run.",
        (),
        [((), measures.run_seconds)],
    )
    yield _histogram(
        "clarion_lane_wait_seconds",
        "From the moment at which a run was due to the end of the unit of work that decided it.",
        (),
        [((), measures.lane_seconds)],
    )
    yield _counter(
        "clarion_messages",
        "Messages by channel and outcome; `retried` counts failed attempts that are followed by another.",
        ("channel", "outcome"),
        [
            ((channel, outcome), measures.messages[channel, outcome])
            for channel, outcomes in _OUTCOMES.items()
            for outcome in outcomes
        ],
    )
    yield _counter(
        "clarion_webhook_attempts",
        "Attempts to deliver an event to an endpoint.",
        ("outcome",),
        [((one,), measures.webhooks[one]) for one in ("delivered", "failed")],
    )
    yield _counter(
        "clarion_step_requests",
        "Attempts to make the request of an HTTP step; `retried` counts failed ones that are followed by another.",
        ("outcome",),
        [((one,), measures.step_requests[one]) for one in RequestOutcome],
    )
    yield _histogram(
        "clarion_step_request_duration_seconds",
        "Time that the servers which HTTP steps call take for their answers.",
        (),
        [((), measures.step_request_seconds)],
    )
    yield _counter(
        "clarion_leases_expired",
        "Sends that were taken over because their worker had let the lease lapse.",
        (),
        [((), measures.expired_leases)],
    )
    yield _histogram(
        "clarion_batch_size",
        "Trigger requests per transaction, runs per unit of work, results of sends per transaction.",
        ("kind",),
        [((kind,), sizes) for kind, sizes in measures.batches.items()],
    )


def _providers(measures: Measures) -> Iterator["Metric"]:
    integrations = sorted(measures.integrations.items())
    yield _histogram(
        "clarion_provider_request_duration_seconds",
        "Time that a provider took for one message, successful or not.",
        ("provider", "integration"),
        [(key, one.seconds) for key, one in integrations],
    )
    yield _counter(
        "clarion_provider_errors",
        "Calls of a provider that failed, by kind of failure.",
        ("provider", "integration", "kind"),
        [((*key, kind), count) for key, one in integrations for kind, count in sorted(one.errors.items())],
    )


def _gauges(measures: Measures) -> Iterator["Metric"]:
    for gauge, read in measures.gauges.items():
        yield _gauge(*_GAUGES[gauge], (), [((), read())])


def _database(measures: DatabaseMeasures, pool: PoolState) -> Iterator["Metric"]:
    states = {"in_use": pool.in_use, "idle": pool.idle}
    yield _gauge(
        "clarion_database_connections",
        "Connections of the process to its store; on SQLite, the one that writes.",
        ("state",),
        [((name,), count) for name, count in states.items()],
    )
    yield _gauge("clarion_database_connections_limit", "How many there may be.", (), [((), pool.limit)])
    yield _gauge("clarion_database_units_waiting", "Units of work without a connection.", (), [((), pool.waiting)])
    yield _histogram(
        "clarion_database_commit_duration_seconds", "The COMMIT statement alone.", (), [((), measures.commit_seconds)]
    )
    yield _histogram(
        "clarion_database_commit_size", "Units of work that were committed together.", (), [((), measures.commit_sizes)]
    )


def _loop(watchdog: LoopWatchdog) -> Iterator["Metric"]:
    yield _histogram(
        "clarion_event_loop_lag_seconds", "How long the event loop takes to answer.", (), [((), watchdog.lag_seconds)]
    )
    yield _counter(
        "clarion_event_loop_blocked", "How often it took longer than 0.25 s.", (), [((), watchdog.blocked_count)]
    )
    yield _counter(
        "clarion_event_loop_blocked_seconds", "How long that was in all.", (), [((), watchdog.blocked_seconds)]
    )


def _background(background: Supervisor) -> Iterator["Metric"]:
    services = [((name,), state) for name, state in sorted(background.states.items())]
    yield _counter(
        "clarion_background_failures",
        "How often background work failed unexpectedly; the log says why.",
        ("service",),
        [(labels, state.failures) for labels, state in services],
    )
    yield _counter(
        "clarion_background_restarts",
        "How often it was started again after that.",
        ("service",),
        [(labels, state.restarts) for labels, state in services],
    )
    yield _gauge(
        "clarion_background_failing",
        "Whether it failed several times in a row and has not succeeded since.",
        ("service",),
        [(labels, state.is_failing) for labels, state in services],
    )


def _store(store: StoreState, now: Millis) -> Iterator["Metric"]:
    backlog = store.backlog.items()
    yield _gauge(
        "clarion_backlog_items",
        "What could be worked on now, counted up to 10000; the same in every process.",
        ("queue",),
        [((queue,), waiting.count) for queue, waiting in backlog],
    )
    yield _gauge(
        "clarion_backlog_oldest_age_seconds",
        "How long the oldest of it has been due; the same in every process.",
        ("queue",),
        [((queue,), waiting.seconds(now)) for queue, waiting in backlog],
    )
    yield _gauge(
        "clarion_digest_windows_open",
        "Digests that gather events, among the first 10000 runs that wait.",
        (),
        [((), store.open_windows)],
    )
    yield _gauge("clarion_dead_letters", "Sends that were given up, up to 10000.", (), [((), store.dead_letters)])
    circuits: dict[tuple[str, str], bool] = {}
    for integration in store.failing:
        key = (integration.provider_id, integration.identifier)
        circuits[key] = circuits.get(key, False) or integration.is_open
    yield _gauge(
        "clarion_circuit_open",
        "Integrations whose last sends failed: 1 while other integrations are used instead.",
        ("provider", "integration"),
        [(key, is_open) for key, is_open in sorted(circuits.items())],
    )


def _counter(name: str, about: str, labels: tuple[str, ...], samples: Samples) -> "Metric":
    from prometheus_client.core import CounterMetricFamily  # noqa: PLC0415

    family = CounterMetricFamily(name, about, labels=labels)
    for values, count in samples:
        family.add_metric(values, count)
    return family


def _gauge(name: str, about: str, labels: tuple[str, ...], samples: Samples) -> "Metric":
    from prometheus_client.core import GaugeMetricFamily  # noqa: PLC0415

    family = GaugeMetricFamily(name, about, labels=labels)
    for values, value in samples:
        family.add_metric(values, float(value))
    return family


def _histogram(
    name: str, about: str, labels: tuple[str, ...], samples: Iterable[tuple[tuple[str, ...], Histogram]]
) -> "Metric":
    from prometheus_client.core import HistogramMetricFamily  # noqa: PLC0415

    family = HistogramMetricFamily(name, about, labels=labels)
    for values, histogram in samples:
        bounds = [*(str(bound) for bound in histogram.bounds), "+Inf"]
        counts = list(accumulate(histogram.counts))
        family.add_metric(values, buckets=list(zip(bounds, counts, strict=True)), sum_value=histogram.total)
    return family
