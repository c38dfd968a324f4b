"""Real processes whose store is migrated: before they start, and under their feet."""

import asyncio
from contextlib import closing
from pathlib import Path

from clarion.db.migrations.migrate import migrate_sqlite
from clarion.db.migrations.revisions import list_known_revisions
from clarion.db.sqlite.database import connect
from tests.next_version import REVISION, NextVersion
from tests.processes import Process

KEY = "the-key-of-development"


async def test_a_first_start_keeps_nothing_of_the_migration_in_memory(store: list[str]) -> None:
    with closing(Process(["serve", *store], {}, entry=["-m", "clarion"])) as process:
        mapped = read(Path(f"/proc/{process.popen.pid}/maps"))

    assert "asyncpg" in mapped
    assert [name for name in ("sqlalchemy", "greenlet") if name in mapped] == []


async def test_a_process_goes_on_while_it_can_work_with_the_schema_and_then_says_why_it_stops(tmp_path: Path) -> None:
    log = tmp_path / "log"
    environ = {"CLARION_DATA_DIR": str(tmp_path), "CLARION_DEVELOPMENT_API_KEY": KEY}
    process = Process(["serve"], environ, log=log)
    try:
        set_schema(tmp_path, "9998", f"{list_known_revisions()[-1]}..9998")
        await wait_for(log, '"Store was migrated; install the newer version here, too"')
        async with process.client(KEY) as client:
            answer = await client.post("/v2/subscribers", json={"subscriberId": "ada"})
        set_schema(tmp_path, "9999", "9999..9999")
        await asyncio.to_thread(process.popen.wait, 60)
    finally:
        process.close()

    assert answer.status_code == 201
    assert "has schema 9999, newer than this Clarion" in read(log)
    assert process.popen.returncode == 1


def test_the_next_version_says_what_a_store_lacks_until_it_is_migrated(tmp_path: Path) -> None:
    store, following = ["--data-dir", str(tmp_path / "data")], NextVersion(tmp_path / "next")
    migrate_sqlite(tmp_path / "data" / "clarion.db")

    examined, status = following.run("doctor", *store), following.run("status", *store)
    migrated = following.run("migrate", *store)
    examined_again = following.run("doctor", *store)

    assert f"The store lacks {REVISION}." in examined.stdout
    assert "Run `clarion migrate`." in examined.stdout
    assert (status.returncode, "run `clarion migrate`" in status.stdout + status.stderr) == (1, True)
    assert migrated.stdout == f"Applied {REVISION}.\n"
    assert "The store lacks" not in examined_again.stdout


async def test_a_process_that_never_migrates_refuses_a_store_that_lacks_migrations(
    migrated_postgres_url: str, tmp_path: Path
) -> None:
    store = ["--data-dir", str(tmp_path / "data"), "--database-url", migrated_postgres_url]

    refused = await asyncio.to_thread(NextVersion(tmp_path / "next").run, "api", *store)

    assert refused.returncode == 1
    assert "The store is not at the schema of this version; run `clarion migrate` first." in refused.stderr


def read(path: Path) -> str:
    return path.read_text()


def set_schema(folder: Path, revision: str, works_with: str) -> None:
    with closing(connect(folder / "clarion.db")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = ?, works_with = ?", (revision, works_with))


async def wait_for(log: Path, text: str) -> None:
    async with asyncio.timeout(60):
        while text not in read(log):  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.1)
