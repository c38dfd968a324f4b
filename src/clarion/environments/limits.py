"""The rate limits of environments: their own, or those of the installation."""

from clarion.db.port import Connection
from clarion.environments.store import get_options
from clarion.ids import EnvironmentId
from clarion.limits.limiter import Limits, ReadLimits


def make_limits_reader(defaults: Limits, ceilings: Limits) -> ReadLimits:
    """`defaults` are for environments that set none of their own; no limit is higher than the ceiling."""

    async def read_limits(db: Connection, environment_id: EnvironmentId) -> Limits:
        options = await get_options(db, environment_id)
        wanted = {**ceilings, **defaults, **options.limits}
        return {category: limit.within(ceilings.get(category)) for category, limit in wanted.items()}

    return read_limits
