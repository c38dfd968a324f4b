"""How many SQL statements an in-app trigger takes at load: every call of the driver, transactions included."""

from bench.figures import Figure
from bench.statements import forget_statements, read_statements, traced_system
from bench.systems import CLARION, Site
from bench.workloads import trigger

_COUNT = 4000


async def measure(site: Site) -> list[Figure]:
    """On systems of their own, because counting costs time."""
    figures = []
    for kind in CLARION:
        async with traced_system(kind, site) as system:
            await trigger.prepare(system)
            await forget_statements(system)
            await trigger.run_burst(system, _COUNT)
        calls = sum(one.calls for one in read_statements(system.folder))
        figures.append(Figure(trigger.NAME, kind, "statements", calls / _COUNT, ""))
    return figures
