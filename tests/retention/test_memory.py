"""How long steps may ask for earlier events, and that PostgreSQL vacuums what is deleted from."""

from typing import Any

import pytest

from clarion.db.migrations.migrate import migrate_postgres
from clarion.db.postgres.database import PostgresDatabase
from clarion.db.query import sql
from clarion.retention.memory import MAX_DYNAMIC_DAYS, remembered_days
from clarion.vocabulary import StepType
from clarion.workflows.model import Variant
from tests.records import make_step
from tests.retention.support import fetch

DIGEST, THROTTLE = StepType.DIGEST, StepType.THROTTLE
LOOK_BACK = {"amount": 2, "unit": "weeks"}


@pytest.mark.parametrize(
    ("kind", "controls", "least", "most"),
    [
        (THROTTLE, {"type": "fixed", "amount": 30, "unit": "minutes"}, 1, 1),
        (THROTTLE, {"type": "fixed", "amount": 40, "unit": "days"}, 40, 90),
        (THROTTLE, {"type": "fixed", "amount": 6, "unit": "months"}, 186, 230),
        (THROTTLE, {"type": "fixed", "amount": 3000, "unit": "days"}, 3000, 3660),
        (THROTTLE, {"type": "dynamic", "dynamicKey": "payload.window"}, MAX_DYNAMIC_DAYS, MAX_DYNAMIC_DAYS),
        (THROTTLE, {"amount": "nonsense"}, 0, 0),
        (DIGEST, {"amount": 5, "unit": "days"}, 0, 0),
        (DIGEST, {"amount": 5, "unit": "minutes", "lookBackWindow": LOOK_BACK}, 14, 30),
        (StepType.DELAY, {"amount": 500, "unit": "days"}, 0, 0),
    ],
)
def test_steps_remember_for_as_long_as_they_count(
    kind: StepType, controls: dict[str, Any], least: int, most: int
) -> None:
    assert least <= remembered_days([make_step(kind, **controls)]) <= most


def test_the_longest_memory_counts_that_of_variants_too() -> None:
    step = make_step(THROTTLE, type="fixed", amount=1, unit="hours")
    longer = Variant(id="v", controls={"type": "fixed", "amount": 20, "unit": "days"})

    assert remembered_days([]) == 0
    assert remembered_days([make_step(StepType.IN_APP), step]) == 1
    assert remembered_days([step.__class__(**{**_fields(step), "variants": [longer]})]) >= 20


def _fields(step: Any) -> dict[str, Any]:
    return {name: getattr(step, name) for name in step.__struct_fields__}


async def test_tables_that_are_deleted_from_are_vacuumed_early(postgres_url: str) -> None:
    await migrate_postgres(postgres_url)
    database = await PostgresDatabase.connect(postgres_url, pool_size=1)
    options = sql("SELECT reloptions FROM pg_class WHERE oid = CAST(CAST(:name AS text) AS regclass)")
    found = [
        (await fetch(database, options, name=table))[0]["reloptions"]
        for table in ("triggers", "notifications", "jobs", "messages", "idempotency_keys")
    ]
    await database.close()

    assert all("autovacuum_vacuum_scale_factor=0.02" in one for one in found)
