"""What a backup and a restore must never overwrite, and whose files they leave."""

import os
import resource
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from clarion.cli.store import backup, restore
from clarion.db.migrations.migrate import migrate_sqlite
from clarion.db.sqlite.backup import back_up, put_in_place
from clarion.db.sqlite.database import connect
from clarion.errors import StoreError, StoreUnavailable
from tests.cli.test_backup import set_up_store

NOBODY = 65534


def read_all(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}


def make_store(path: Path, name: str) -> Path:
    """A store with a name in it, which a reader of the file finds."""
    migrate_sqlite(path)
    with closing(connect(path)) as connection:
        connection.execute("INSERT INTO organizations (id, name, created_at) VALUES (randomblob(16), ?, 1)", (name,))
    return path


def read_name(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        (name,) = connection.execute("SELECT name FROM organizations").fetchone()
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    return str(name)


@pytest.mark.parametrize(
    "target",
    [
        "data/clarion.db",
        "data/../data/clarion.db",
        "link-of-the-store",
        "hard-link-of-the-store",
        "link-of-the-folder/clarion.db",
        "data/clarion.db-wal",
        "data/clarion.db-shm",
        "data/clarion.db-journal",
        "hard-link-of-the-log",
        "hard-link-of-the-index",
        "data/encryption.keys",
        "hard-link-of-the-keys",
        "other/clarion.db",
        "other/clarion.db-wal",
        "other/encryption.keys",
    ],
)
async def test_a_backup_never_replaces_a_store_its_log_or_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """The store is open, as while it is served, and the target is named from the folder above."""
    data, other = tmp_path / "data", tmp_path / "other"
    for folder in (data, other):
        await set_up_store(folder)
    (tmp_path / "link-of-the-store").symlink_to(data / "clarion.db")
    (tmp_path / "link-of-the-folder").symlink_to(data)
    with closing(connect(data / "clarion.db")) as served, closing(connect(other / "clarion.db")) as also_served:
        for one in (served, also_served):
            one.execute("INSERT INTO organizations (id, name, created_at) VALUES (randomblob(16), 'Acme', 1)")
        names = {"store": "clarion.db", "log": "clarion.db-wal", "index": "clarion.db-shm", "keys": "encryption.keys"}
        for name, file in names.items():
            os.link(data / file, tmp_path / f"hard-link-of-the-{name}")
        before = [read_all(folder) for folder in (data, other)]
        monkeypatch.chdir(tmp_path)

        with pytest.raises(StoreError, match="which a backup never replaces; choose another name"):
            backup(Path(target), force=True, data_dir=str(data))
        assert [read_all(folder) for folder in (data, other)] == before


async def test_a_backup_replaces_a_backup_and_keeps_everything_else_that_was_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, file, keys = tmp_path / "data", tmp_path / "copy", tmp_path / "copy.keys"
    await set_up_store(data)
    file.write_text("notes")
    keys.write_text("other keys")

    with pytest.raises(StoreError, match=r"copy\.keys, and other keys may be there"):
        backup(file, with_keys=True, data_dir=str(data))
    for _ in range(2):
        backup(file, with_keys=True, force=True, data_dir=str(data))

    found = read_all(tmp_path)
    assert found.keys() == {"copy", "copy.replaced", "copy.keys", "copy.keys.replaced"}
    assert (found["copy.replaced"], found["copy.keys.replaced"]) == (b"notes", b"other keys")
    assert f"What was there is now {tmp_path / 'copy.replaced'}" in capsys.readouterr().out


async def test_the_keys_of_a_backup_are_never_written_over_those_of_a_service(tmp_path: Path) -> None:
    for name in ("data", "other"):
        await set_up_store(tmp_path / name)
    before = (tmp_path / "other" / "encryption.keys").read_bytes()

    with pytest.raises(StoreError, match="and other keys may be there"):
        backup(tmp_path / "other" / "encryption", with_keys=True, force=True, data_dir=str(tmp_path / "data"))

    assert (tmp_path / "other" / "encryption.keys").read_bytes() == before
    assert not (tmp_path / "other" / "encryption").exists()


def test_a_folder_and_the_store_itself_are_refused_with_the_way_out(tmp_path: Path) -> None:
    path = make_store(tmp_path / "clarion.db", "Acme")

    with pytest.raises(StoreError, match="is a folder; name a file in it"):
        back_up(path, tmp_path, force=True)
    with pytest.raises(StoreError, match="is the store itself; name a backup"):
        put_in_place(tmp_path / "." / "clarion.db", path, force=True)


def test_every_store_that_a_restore_replaced_is_kept(tmp_path: Path) -> None:
    path = make_store(tmp_path / "data" / "clarion.db", "first")
    for name in ("second", "third"):
        copy = make_store(tmp_path / name, name)
        kept = put_in_place(copy, path, force=True)

    assert kept == [path.with_name("clarion.db.replaced-2")]
    assert [read_name(path.with_name(f"clarion.db{suffix}")) for suffix in ("", ".replaced", ".replaced-2")] == [
        "third",
        "first",
        "second",
    ]


async def test_the_keys_that_a_restore_replaced_are_kept(tmp_path: Path) -> None:
    data, other, file = tmp_path / "data", tmp_path / "other", tmp_path / "copy"
    for folder in (data, other):
        await set_up_store(folder)
    before, new = ((folder / "encryption.keys").read_bytes() for folder in (data, other))
    backup(file, with_keys=True, data_dir=str(other))

    restore(file, force=True, data_dir=str(data))

    assert (data / "encryption.keys").read_bytes() == new
    assert (data / "encryption.keys.replaced").read_bytes() == before


def test_a_log_of_the_store_before_does_not_get_into_the_restored_one(tmp_path: Path) -> None:
    """The store was deleted without its log, which a crash had left: SQLite would write its pages into the new file."""
    path, copy = make_store(tmp_path / "data" / "clarion.db", "before"), make_store(tmp_path / "copy", "restored")
    with closing(connect(path)) as crashed:
        crashed.execute("UPDATE organizations SET name = 'only in the log'")
        for suffix in ("-wal", "-shm"):
            shutil.copy(path.with_name(f"clarion.db{suffix}"), tmp_path / f"left{suffix}")
    path.unlink()
    for suffix in ("-wal", "-shm"):
        shutil.copy(tmp_path / f"left{suffix}", path.with_name(f"clarion.db{suffix}"))

    kept = put_in_place(copy, path)

    assert read_name(path) == "restored"
    assert {one.name for one in kept} == {"clarion.db-wal.replaced", "clarion.db-shm.replaced"}
    assert (path.with_name("clarion.db-wal.replaced")).read_bytes() == (tmp_path / "left-wal").read_bytes()


def test_a_copy_that_does_not_fit_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    """Files of the process cannot grow beyond 200 KB, which is less than an empty store has."""
    path = make_store(tmp_path / "data" / "clarion.db", "Acme")
    copies = tmp_path / "copies"
    copies.mkdir()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, before[1]))
    try:
        with pytest.raises(StoreUnavailable, match=f"The copy in {copies} could not be written"):
            back_up(path, copies / "copy")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert list(copies.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
async def test_files_that_root_restores_belong_to_the_owner_of_the_folder_or_of_what_was_there(tmp_path: Path) -> None:
    data, file = tmp_path / "data", tmp_path / "copy"
    await set_up_store(tmp_path / "other")
    backup(file, with_keys=True, data_dir=str(tmp_path / "other"))
    data.mkdir()
    os.chown(data, NOBODY, NOBODY)

    restore(file, data_dir=str(data))
    owners = {one.name: (one.stat().st_uid, stat.S_IMODE(one.stat().st_mode)) for one in data.iterdir()}
    os.chown(data / "clarion.db", 1234, 1234)
    (data / "clarion.db").chmod(0o640)
    restore(file, force=True, data_dir=str(data))
    replaced = (data / "clarion.db").stat()

    assert owners == {"clarion.db": (NOBODY, 0o600), "encryption.keys": (NOBODY, 0o600)}
    assert (replaced.st_uid, replaced.st_gid, stat.S_IMODE(replaced.st_mode)) == (1234, 1234, 0o640)
