"""What is measured, on which systems, and how often."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bench.figures import Figure
from bench.systems import BASELINE, CLARION, FLOOR_HTTP, Site, System
from bench.workloads import (
    bulk,
    digest,
    external,
    fanout,
    floors,
    inbox,
    latency,
    lifetime,
    pages,
    statements,
    trigger,
)

OnSystem = Callable[[System], Awaitable[list[Figure]]]


async def _nothing(_: System) -> None:
    """Most workloads find what they need already there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Measured on systems that run all the time, in turn, round after round."""

    name: str
    measure: OnSystem
    systems: tuple[str, ...] = CLARION
    prepare: Callable[[System], Awaitable[None]] = _nothing
    most_rounds: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Alone:
    """Measured once, after all rounds, on systems that it starts by itself."""

    name: str
    measure: Callable[[Site], Awaitable[list[Figure]]]


_EVERY_ROUND = 1000

# Single triggers come first: what they need is what the others use, and the inbox reads their messages. Most goals are
# ratios to a trigger of the baseline or to a floor, so these are measured most often.
WORKLOADS = (
    Workload(
        name="trigger",
        measure=trigger.measure,
        prepare=trigger.prepare,
        systems=(*CLARION, BASELINE),
        most_rounds=_EVERY_ROUND,
    ),
    Workload(name="floors", measure=floors.measure, systems=(*CLARION, FLOOR_HTTP), most_rounds=_EVERY_ROUND),
    Workload(name="bulk", measure=bulk.measure),
    Workload(name="inbox", measure=inbox.measure),
    Workload(name="latency", measure=latency.measure, systems=(*CLARION, BASELINE)),
    Workload(name="fanout", measure=fanout.measure_small, prepare=fanout.prepare),
    Workload(name="digest", measure=digest.measure, prepare=digest.prepare, most_rounds=1),
    Workload(name="external", measure=external.measure, prepare=external.prepare),
    Workload(name="fanout-large", measure=fanout.measure_large),
)


async def _measure_pages(site: Site) -> list[Figure]:
    figures = [await pages.measure(kind, site.folder / f"pages-{kind}") for kind in CLARION]
    return [one for found in figures for one in found]


FULL_UNIT = (
    Alone(name="lifetime", measure=lifetime.measure),
    Alone(name="statements", measure=statements.measure),
    Alone(name="pages", measure=_measure_pages),
)
