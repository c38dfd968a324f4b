"""Compares the CPU time of this tree with that of an earlier revision.

Both run at the same time, each on a store of its own, and get every workload in turns: the speed of a machine changes
between two runs by more than most changes of the code do.
"""

import math
import random
import statistics
import subprocess
import tarfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from io import BytesIO
from pathlib import Path

from msgspec import Struct

from bench.figures import Figure
from bench.processes import ROOT
from bench.systems import Site, System, start_clarion
from bench.workloads import external, fanout, mailbox, trigger

NOW, THEN = "now", "then"
_MESSAGES = 1000
_READS = 1000


class Comparison(Struct, frozen=True):
    """The CPU times of one figure, in milliseconds; each pair was measured in the same round."""

    name: str
    then: Sequence[float]
    now: Sequence[float]

    @property
    def ratios(self) -> list[float]:
        return [now / then for now, then in zip(self.now, self.then, strict=True)]

    @property
    def standard_error(self) -> float:
        return statistics.stdev(self.ratios) / math.sqrt(len(self.ratios))

    def describe(self) -> str:
        return (
            f"{self.name}: {statistics.mean(self.then):.4f} ms then, {statistics.mean(self.now):.4f} ms now; "
            f"ratio of the sums {sum(self.now) / sum(self.then):.3f}, median {statistics.median(self.ratios):.3f}, "
            f"mean {statistics.mean(self.ratios):.3f} ± {self.standard_error:.3f}"
        )


Measure = Callable[[System], Awaitable[list[Figure]]]


async def compare(site: Site, kind: str, revision: str, *, rounds: int) -> list[Comparison]:
    """Measure triggers, recipients of a fan-out, mails, chat messages and inbox reads of both trees."""
    sources = {THEN: export_sources(revision, site.folder / "then"), NOW: ROOT / "src"}
    times: dict[str, dict[str, list[float]]] = {}
    async with AsyncExitStack() as stack:
        measures: dict[str, list[Measure]] = {}
        systems: dict[str, System] = {}
        for name, source in sources.items():
            started = start_clarion(kind, site, f"compare_{name}", environ={"PYTHONPATH": str(source)})
            systems[name] = await stack.enter_async_context(started)
            measures[name] = await _prepare(systems[name])
        # The first round fills caches.
        for number in range(rounds + 1):
            for step in range(len(measures[NOW])):
                for name in random.sample([THEN, NOW], 2):
                    for figure in await measures[name][step](systems[name]):
                        if number and figure.name.endswith("cpu_ms"):
                            label = f"{figure.workload}, {figure.name}"
                            times.setdefault(label, {THEN: [], NOW: []})[name].append(figure.value)
    return [Comparison(label, both[THEN], both[NOW]) for label, both in times.items()]


def export_sources(revision: str, folder: Path) -> Path:
    """Write the package of a revision into a folder; returns where Python finds it."""
    archive = subprocess.run(["git", "archive", revision, "src"], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder / "src"


async def _prepare(system: System) -> list[Measure]:
    await trigger.prepare(system)
    await fanout.prepare(system)
    await external.prepare(system)
    token = await mailbox.fill_mailbox(system, "reader", system.scaled(_MESSAGES))

    async def read_inbox(reader: System) -> list[Figure]:
        count = reader.scaled(_READS)
        return [
            Figure(
                mailbox.NAME,
                reader.kind,
                f"{name}_cpu_ms",
                await mailbox.measure_reads(reader, [mailbox.make_read(path, token)] * count, 200),
                "ms",
            )
            for name, path in mailbox.PATHS.items()
        ]

    return [trigger.measure, fanout.measure, external.measure, read_inbox]
