"""How long an environment keeps each kind of data: what it sets itself, or else what the installation does."""

from collections.abc import Mapping
from typing import TypeAlias

from clarion.clock import DAY, Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.environments.options import DataKind, EnvironmentOptions, decode_options
from clarion.ids import EnvironmentId
from clarion.settings.model import Settings

RetentionDays: TypeAlias = Mapping[DataKind, int]

FIND_OPTIONS = sql("SELECT id AS environment_id, options FROM environments WHERE id = :environment_id")


def days_of(options: EnvironmentOptions, settings: Settings) -> RetentionDays:
    """How many days each kind of data is kept; what an environment sets holds within the range of the installation."""
    return {kind: choose_days(kind, options.retention_days.get(kind), settings) for kind in DataKind}


def choose_days(kind: DataKind, wanted: int | None, settings: Settings) -> int:
    if wanted is None:
        return settings.retention_days[kind]
    least, most = settings.retention_range(kind)
    return max(least, min(wanted, most))


async def find_horizon(
    db: Connection, environment_id: EnvironmentId, kind: DataKind, settings: Settings, now: Millis
) -> Millis:
    """The moment before which data of this kind is deleted."""
    row = await db.fetch_one(FIND_OPTIONS, environment_id=environment_id)
    options = decode_options(None if row is None else row["options"])
    return Millis(max(now - days_of(options, settings)[kind] * DAY, 0))
