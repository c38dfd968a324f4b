"""The plan of a run: what is measured, on which systems, how often, and how long each part takes."""

from collections.abc import Awaitable, Callable, Iterator, Sequence

from msgspec import Struct

from bench.figures import Figure
from bench.systems import BASELINE, CLARION, FLOOR_HTTP, POSTGRES, SQLITE, Site, System
from bench.workloads import (
    environments,
    external,
    fanout,
    floors,
    hostile,
    latency,
    lifetime,
    mailbox,
    mails,
    membership,
    pages,
    retention,
    scaling,
    sockets,
    statements,
    stream,
    takeover,
    trigger,
    waits,
)

LIMIT_MINUTES = 48
"""Of a complete run on two cores. What the plan leaves of them is a reserve for slower machines."""
START = "start"
"""The name of the steps that start the shared systems."""

_START_SECONDS = {SQLITE: 5.0, POSTGRES: 10.0, FLOOR_HTTP: 5.0, BASELINE: 15.0}


async def _nothing(_: System) -> None:
    """Most workloads use what earlier ones prepared."""


class Workload(Struct, frozen=True, kw_only=True):
    name: str
    seconds: float
    """Planned for one measurement on one system."""
    systems: tuple[str, ...] = CLARION


class SharedWorkload(Workload, frozen=True, kw_only=True):
    """Measured in rounds on systems that are all running, one after the other."""

    measure: Callable[[System], Awaitable[list[Figure]]]
    prepare: Callable[[System], Awaitable[None]] = _nothing
    prepare_seconds: float = 0.0
    rounds: int


class OwnWorkload(Workload, frozen=True, kw_only=True):
    """Measured once, on systems that it starts itself, while the shared ones are stopped."""

    measure: Callable[[Site, str], Awaitable[list[Figure]]]


# Single triggers come first, because others use what they prepare. Most goals are ratios to a trigger of the baseline
# or to a floor, so these have the most rounds.
SHARED = (
    SharedWorkload(
        name="trigger",
        measure=trigger.measure,
        prepare=trigger.prepare,
        systems=(*CLARION, BASELINE),
        rounds=6,
        seconds=5,
        prepare_seconds=5,
    ),
    SharedWorkload(name="floors", measure=floors.measure, systems=(*CLARION, FLOOR_HTTP), rounds=6, seconds=3),
    SharedWorkload(name="latency", measure=latency.measure, systems=(*CLARION, BASELINE), rounds=2, seconds=8),
    SharedWorkload(
        name="external",
        measure=external.measure,
        prepare=external.prepare,
        rounds=2,
        seconds=9,
        prepare_seconds=10,
    ),
    SharedWorkload(
        name="fan-out", measure=fanout.measure, prepare=fanout.prepare, rounds=2, seconds=13, prepare_seconds=12
    ),
    SharedWorkload(name="stream", measure=stream.measure, rounds=1, seconds=30),
)
OWN = (
    OwnWorkload(name="lifetime", measure=lifetime.measure, seconds=25),
    OwnWorkload(name="statements", measure=statements.measure, seconds=12),
    OwnWorkload(name="mailbox", measure=mailbox.measure, seconds=35),
    OwnWorkload(name="mails", measure=mails.measure, seconds=33),
    OwnWorkload(name="waits", measure=waits.measure, seconds=75),
    OwnWorkload(name="sockets", measure=sockets.measure, seconds=90),
    OwnWorkload(name="takeover", measure=takeover.measure, systems=(POSTGRES,), seconds=35),
    OwnWorkload(name="hostile", measure=hostile.measure, seconds=65),
    OwnWorkload(name="environments", measure=environments.measure_busy, seconds=40),
    OwnWorkload(name="idle-environments", measure=environments.measure_idle, systems=(POSTGRES,), seconds=110),
    OwnWorkload(name="scaling", measure=scaling.measure, systems=(POSTGRES,), seconds=300),
    OwnWorkload(name="membership", measure=membership.measure, systems=(POSTGRES,), seconds=130),
    # Retention deletes from the store whose lists have been measured.
    OwnWorkload(name="pages", measure=pages.measure, seconds=180),
    OwnWorkload(name="retention", measure=retention.measure, seconds=230),
)
WORKLOADS: tuple[SharedWorkload | OwnWorkload, ...] = (*SHARED, *OWN)


class Step(Struct, frozen=True, kw_only=True):
    """What a run does next: one measurement on one system, or what has to be done before it."""

    workload: str
    system: str
    seconds: float
    round: int = 0
    """Of a shared workload; 0 prepares it."""


def plan_steps(only: Sequence[str] = (), *, rounds: int | None = None) -> list[Step]:
    """Return the steps of a complete run, or of one with some workloads and possibly another number of rounds."""
    shared = [workload for workload in SHARED if not only or workload.name in only]
    own = [workload for workload in OWN if not only or workload.name in only]
    return [
        *_plan_preparation(shared),
        *_plan_rounds(shared, rounds),
        *(
            Step(workload=workload.name, system=system, seconds=workload.seconds)
            for workload in own
            for system in workload.systems
        ),
    ]


def _plan_preparation(shared: Sequence[SharedWorkload]) -> Iterator[Step]:
    """Start all systems, and prepare single triggers even if they are not measured."""
    if not shared:
        return
    used = {system for workload in (SHARED[0], *shared) for system in workload.systems}
    for system, seconds in _START_SECONDS.items():
        if system in used:
            yield Step(workload=START, system=system, seconds=seconds)
    for workload in dict.fromkeys((SHARED[0], *shared)):
        for system in workload.systems if workload.prepare is not _nothing else ():
            yield Step(workload=workload.name, system=system, seconds=workload.prepare_seconds)


def _plan_rounds(shared: Sequence[SharedWorkload], rounds: int | None) -> Iterator[Step]:
    """Interleave workloads and systems, so that each round measures everything at nearly the same time."""
    counts = {workload.name: rounds or workload.rounds for workload in shared}
    for number in range(1, max(counts.values(), default=0) + 1):
        for workload in shared:
            for system in workload.systems if number <= counts[workload.name] else ():
                yield Step(workload=workload.name, system=system, seconds=workload.seconds, round=number)


class Budget:
    """Divides the time of a run among its steps."""

    def __init__(self, steps: Sequence[Step], seconds: float, now: Callable[[], float]) -> None:
        self._now = now
        self._ends_at = now() + seconds
        self._later = sum(step.seconds for step in steps)

    def begin(self, step: Step) -> float:
        """Return how many seconds this step may take: its planned ones, and what earlier steps and the reserve left.

        The planned seconds of later steps are never given away.
        """
        self._later -= step.seconds
        return self._ends_at - self._now() - self._later
