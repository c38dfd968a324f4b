"""The number of SQL statements of an in-app trigger under load: all calls of the driver, including transactions."""

from bench.figures import Figure
from bench.systems import Site
from bench.traced import read_statements, reset_statements, traced_system
from bench.workloads import trigger

_COUNT = 4000


async def measure(site: Site, kind: str) -> list[Figure]:
    """Measure on a separate system, because counting costs time."""
    count = site.scaled(_COUNT)
    async with traced_system(kind, site) as system:
        await trigger.prepare(system)
        await reset_statements(system)
        await trigger.run_burst(system, count)
    calls = sum(statement.calls for statement in read_statements(system.folder))
    if not calls:
        raise RuntimeError(f"no statement was counted on {kind}")
    return [Figure(trigger.NAME, kind, "statements", calls / count, "")]
