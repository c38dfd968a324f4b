"""The number of SQL statements of an in-app trigger under load: all calls of the driver, including transactions."""

from bench.figures import Figure
from bench.statements import read_statements, reset_statements, traced_system
from bench.systems import CLARION, Site
from bench.workloads import trigger

_COUNT = 4000


async def measure(site: Site) -> list[Figure]:
    """Measure on separate systems, because counting costs time."""
    figures = []
    for kind in CLARION:
        async with traced_system(kind, site) as system:
            await trigger.prepare(system)
            await reset_statements(system)
            await trigger.run_burst(system, _COUNT)
        calls = sum(one.calls for one in read_statements(system.folder))
        if not calls:
            raise RuntimeError(f"no statement was counted on {kind}")
        figures.append(Figure(trigger.NAME, kind, "statements", calls / _COUNT, ""))
    return figures
