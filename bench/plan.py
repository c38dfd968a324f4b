"""The workloads: what is measured, on which systems, and how often."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from bench.figures import Figure
from bench.systems import BASELINE, CLARION, FLOOR_HTTP, Site, System
from bench.workloads import (
    bulk,
    digest,
    environments,
    external,
    fanout,
    floors,
    hostile,
    inbox,
    latency,
    lifetime,
    mailbox,
    membership,
    pages,
    retention,
    scaling,
    sockets,
    statements,
    stream,
    takeover,
    trigger,
)

OnSystem = Callable[[System], Awaitable[list[Figure]]]


async def _nothing(_: System) -> None:
    """Most workloads use what earlier ones prepared."""


class Workload(Struct, frozen=True, kw_only=True):
    """Measured in every round on the running systems, one after the other."""

    name: str
    measure: OnSystem
    systems: tuple[str, ...] = CLARION
    prepare: Callable[[System], Awaitable[None]] = _nothing
    max_rounds: int = 2


class StandaloneWorkload(Struct, frozen=True, kw_only=True):
    """Measured once, after all rounds, on systems that it starts itself."""

    name: str
    measure: Callable[[Site], Awaitable[list[Figure]]]


_EVERY_ROUND = 1000

# Single triggers come first: others use what they prepare, and the inbox reads their messages. Most goals are ratios
# to a trigger of the baseline or to a floor, so these are measured in every round.
WORKLOADS = (
    Workload(
        name="trigger",
        measure=trigger.measure,
        prepare=trigger.prepare,
        systems=(*CLARION, BASELINE),
        max_rounds=_EVERY_ROUND,
    ),
    Workload(name="floors", measure=floors.measure, systems=(*CLARION, FLOOR_HTTP), max_rounds=_EVERY_ROUND),
    Workload(name="bulk", measure=bulk.measure),
    Workload(name="inbox", measure=inbox.measure),
    Workload(name="latency", measure=latency.measure, systems=(*CLARION, BASELINE)),
    Workload(name="stream", measure=stream.measure, prepare=trigger.prepare, max_rounds=1),
    Workload(name="fanout", measure=fanout.measure_small, prepare=fanout.prepare),
    Workload(name="digest", measure=digest.measure, prepare=digest.prepare, max_rounds=1),
    Workload(name="external", measure=external.measure, prepare=external.prepare),
    Workload(name="fanout-large", measure=fanout.measure_large),
)


async def _measure_pages(site: Site) -> list[Figure]:
    figures = [await pages.measure(kind, site.folder / f"pages-{kind}") for kind in CLARION]
    return [one for found in figures for one in found]


STANDALONE_WORKLOADS = (
    StandaloneWorkload(name="lifetime", measure=lifetime.measure),
    StandaloneWorkload(name="statements", measure=statements.measure),
    StandaloneWorkload(name="pages", measure=_measure_pages),
    StandaloneWorkload(name="scaling", measure=scaling.measure),
    StandaloneWorkload(name="membership", measure=membership.measure),
    StandaloneWorkload(name="environments", measure=environments.measure),
    StandaloneWorkload(name="mailbox", measure=mailbox.measure),
    StandaloneWorkload(name="hostile", measure=hostile.measure),
    StandaloneWorkload(name="sockets", measure=sockets.measure),
    StandaloneWorkload(name="takeover", measure=takeover.measure),
    StandaloneWorkload(name="retention", measure=retention.measure),
)
