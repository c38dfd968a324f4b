"""`clarion retention` beside a running service, and `clarion compact` without one."""

import asyncio
from pathlib import Path
from typing import Any

from clarion.clock import DAY, Millis, SystemClock
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.db.sqlite.database import SqliteDatabase
from clarion.ids import new_id
from tests.processes import Start

INSERT_AUDIT = sql("""
    INSERT INTO audit_entries (environment_id, id, action, target_type, target_id, actor_type, after, created_at)
    SELECT e.id, :id, 'workflow.update', 'workflow', 'x', 'key', :text, 1 FROM environments AS e
    WHERE e.name = 'Development'
""")


async def insert_old_entries(folder: Path, count: int) -> None:
    database = SqliteDatabase(folder / "clarion.db")
    at = Millis(SystemClock().now() - 400 * DAY)

    async def insert(db: Connection) -> None:
        await db.execute_many(INSERT_AUDIT, [{"id": new_id(at), "text": "x" * 2000} for _ in range(count)])

    await database.transaction(insert)
    await database.close()


def number(text: str, name: str) -> int:
    (line,) = [line for line in text.splitlines() if name in line]
    return int(line.replace("│", " ").split()[-1])


def test_old_data_is_counted_deleted_and_its_space_given_back(start: Start, run_command: Any, tmp_path: Path) -> None:
    store = ["--data-dir", str(tmp_path / "data")]
    process = start("serve", *store)
    asyncio.run(insert_old_entries(tmp_path / "data", 1500))
    counted = run_command("retention", "run", *store)
    refused = run_command("compact", *store)
    deleted = run_command("retention", "run", "--yes", *store)
    shown = run_command("retention", "show", *store)
    process.stop()
    size = (tmp_path / "data" / "clarion.db").stat().st_size
    compacted = run_command("compact", *store)

    assert number(counted.stdout, "audit entries") == 1500
    assert "--yes" in counted.stderr
    assert (refused.returncode, "stop it first" in refused.stderr) == (1, True)
    assert number(deleted.stdout, "audit entries") == 1500
    assert any("1500 audit entries" in line and "365" in line for line in shown.stdout.splitlines())
    assert compacted.returncode == 0, compacted.stderr
    assert (tmp_path / "data" / "clarion.db").stat().st_size < size - 1_000_000
    assert start("serve", *store).keys == {}
