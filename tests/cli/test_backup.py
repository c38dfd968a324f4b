"""Backups of a SQLite store, taken and restored by the real commands."""

import asyncio
import contextlib
import shutil
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from clarion.cli.store import backup, restore
from clarion.clock import SystemClock
from clarion.db.migrations.migrate import migrate_sqlite
from clarion.db.sqlite.backup import back_up
from clarion.db.sqlite.database import SqliteDatabase, connect
from clarion.environments.bootstrap import prepare_store
from clarion.errors import ClarionError, SettingsError, StoreError, StoreInUse, StoreOutdated
from clarion.settings.model import Settings
from tests.chaos.test_kills import KEY, SETTINGS, find_lost, prepare, under_load, wait_for_invariants
from tests.db.versions import LATEST
from tests.next_version import REVISION, NextVersion
from tests.processes import Start

Run = Callable[..., CompletedProcess[str]]


async def test_a_backup_under_load_has_everything_that_was_accepted_before_it(
    start: Start, run_command: Run, tmp_path: Path
) -> None:
    """The service is killed right after the backup, and goes on elsewhere from what the backup has."""
    process = start("serve", "--data-dir", str(tmp_path / "data"), **SETTINGS)
    await prepare(process)
    file = tmp_path / "copies" / "store.backup"
    file.parent.mkdir()
    accepted: set[str] = set()
    before: set[str] = set()

    def back_up_and_kill() -> None:
        before.update(accepted)
        done = run_command("backup", str(file), "--with-keys", "--data-dir", str(tmp_path / "data"))
        process.kill()
        assert done.returncode == 0, done.stderr

    await under_load(process, accepted, back_up_and_kill)
    restored = await asyncio.to_thread(run_command, "restore", str(file), "--data-dir", str(tmp_path / "new"))
    again = start("serve", "--data-dir", str(tmp_path / "new"), **SETTINGS)
    database = SqliteDatabase(tmp_path / "new" / "clarion.db")
    broken = await wait_for_invariants(database)
    await database.close()

    assert restored.returncode == 0, restored.stderr
    assert len(before) > 0
    assert broken == {}
    assert await find_lost(again, before) == []
    modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in file.parent.iterdir()}
    assert modes == {"store.backup": 0o600, "store.backup.keys": 0o600}


async def set_up_store(folder: Path) -> None:
    """A store with secrets, and its keys."""
    migrate_sqlite(folder / "clarion.db")
    settings = Settings(data_dir=folder)
    database = SqliteDatabase(folder / "clarion.db")
    await prepare_store(database, settings, SystemClock())
    await database.close()


async def test_a_restore_refuses_what_it_must_not_do(start: Start, tmp_path: Path) -> None:
    data, other, file = tmp_path / "data", tmp_path / "other", tmp_path / "store.backup"
    process = start("serve", "--data-dir", str(data), **SETTINGS)
    backup(file, data_dir=str(data))

    with pytest.raises(StoreError, match="exists; choose another name"):
        backup(file, data_dir=str(data))
    with pytest.raises(SettingsError, match="There are no encryption keys"):
        restore(file, data_dir=str(other))
    with pytest.raises(StoreError, match="already; replace it with --force"):
        restore(file, data_dir=str(data))
    with pytest.raises(StoreInUse, match="is in use: stop `clarion serve`"):
        restore(file, force=True, data_dir=str(data))
    process.stop()
    restore(file, force=True, data_dir=str(data))

    assert not other.exists()
    assert {one.name for one in data.iterdir()} == {"clarion.db", "clarion.db.replaced", "encryption.keys"}
    async with start("serve", "--data-dir", str(data), **SETTINGS).client(KEY) as client:
        assert (await client.get("/v1/environments/me")).json()["name"] == "Development"


async def test_a_restore_checks_the_keys_the_schema_and_every_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data, new, file = tmp_path / "data", tmp_path / "new", tmp_path / "store.backup"
    await set_up_store(data)
    backup(file, data_dir=str(data))
    backup(file, with_keys=True, force=True, data_dir=str(data))
    keys = file.with_name("store.backup.keys")
    strange, damaged, newer = (tmp_path / name for name in ("strange.keys", "damaged", "newer"))
    strange.write_text(f"{keys.read_text().partition(':')[0]}:{'A' * 43}=")
    _damage(file, damaged)
    shutil.copy(file, newer)
    _execute(newer, "UPDATE alembic_version SET version_num = '9999'")
    _execute(tmp_path / "empty", "CREATE TABLE something (id)")
    refused = [
        ("do not open the secrets", file, strange),
        ("is damaged", damaged, keys),
        ("newer than this Clarion", newer, keys),
        ("is no store of Clarion", tmp_path / "empty", keys),
        ("cannot be read", keys, keys),
        ("There is no file", tmp_path / "nothing", None),
    ]

    for text, copy, given in refused:
        with pytest.raises(ClarionError, match=text):
            restore(copy, given, data_dir=str(new))
    assert not new.exists()
    restore(file, data_dir=str(new))
    assert (new / "encryption.keys").read_text() == keys.read_text()
    shown = capsys.readouterr().out
    assert "Without the encryption keys it is useless: the service does not start on it." in shown
    assert f"Keep a copy of the file {data / 'encryption.keys'} elsewhere" in shown
    assert "Whoever has both files can read all credentials" in shown
    monkeypatch.setenv("CLARION_ENCRYPTION_KEYS", strange.read_text())
    with pytest.raises(SettingsError, match="leave out --keys"):
        restore(file, keys, data_dir=str(tmp_path / "other"))
    with pytest.raises(SettingsError, match="do not open the secrets"):
        restore(file, data_dir=str(tmp_path / "other"))
    monkeypatch.setenv("CLARION_DATABASE_URL", "postgresql://x/y")
    with pytest.raises(SettingsError, match="back up PostgreSQL with its own tools"):
        backup(file)


def _damage(file: Path, copy: Path) -> None:
    with contextlib.closing(sqlite3.connect(file)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'environments'").fetchone()
    content = bytearray(file.read_bytes())
    content[(page - 1) * 4096 + 8 : page * 4096] = b"\xff" * (4096 - 8)
    copy.write_bytes(content)


def _execute(path: Path, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


def test_a_backup_of_an_older_schema_is_restored_and_migrated_at_the_next_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data, new, file = tmp_path / "data", tmp_path / "new", tmp_path / "store.backup"
    migrate_sqlite(data / "clarion.db")
    keys, following = f"old:{'A' * 43}=", NextVersion(tmp_path / "next")
    monkeypatch.setenv("CLARION_ENCRYPTION_KEYS", keys)

    backup(file, data_dir=str(data))
    shown = capsys.readouterr().out
    restored = following.run("restore", str(file), "--data-dir", str(new), CLARION_ENCRYPTION_KEYS=keys)

    assert "Keep a copy of CLARION_ENCRYPTION_KEYS" in shown
    assert f"Its schema is {LATEST}; the next `clarion serve` migrates it." in restored.stdout
    assert not (new / "encryption.keys").exists()
    assert following.run("migrate", "--data-dir", str(new)).stdout == f"Applied {REVISION}.\n"


def test_a_backup_of_a_version_that_was_never_released_is_not_restored(tmp_path: Path) -> None:
    data, file = tmp_path / "data", tmp_path / "store.backup"
    migrate_sqlite(file)
    _execute(file, "UPDATE alembic_version SET version_num = '0009'")

    with pytest.raises(StoreOutdated, match="has schema 0009, of a version before"):
        restore(file, data_dir=str(data))

    assert not (data / "clarion.db").exists()


def test_a_backup_is_of_one_moment_although_the_store_changes_between_its_steps(tmp_path: Path) -> None:
    """With each step of the copy a row goes from one table to another; the copy has it in exactly one of them."""
    path = tmp_path / "clarion.db"
    migrate_sqlite(path)
    writer = connect(path)
    writer.execute("CREATE TABLE one (n INTEGER, content BLOB)")
    writer.executemany("INSERT INTO one VALUES (?, randomblob(4000))", [(n,) for n in range(3000)])
    writer.execute("CREATE TABLE two AS SELECT * FROM one WHERE FALSE")

    def change() -> None:
        with writer:
            writer.execute("INSERT INTO two SELECT * FROM one LIMIT 10")
            writer.execute("DELETE FROM one WHERE n IN (SELECT n FROM two)")

    back_up(path, tmp_path / "copy", between_steps=change)
    with sqlite3.connect(tmp_path / "copy") as copy:
        counts = [copy.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("one", "two")]
    copy.close()
    writer.close()

    assert counts == [3000, 0]
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".")] == []
