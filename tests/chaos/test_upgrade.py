"""An upgrade beside running processes: the next version migrates under this one, and no accepted trigger is lost.

The next version is a copy of this one with one more migration, which only adds or changes what this one relies on.
"""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.chaos.test_kills import SETTINGS, check_store, prepare, under_load
from tests.db.versions import COMPATIBLE, LATEST
from tests.next_version import REVISION, NextVersion
from tests.processes import Start, clean_environ


@pytest.fixture
def running() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


async def test_a_migration_that_only_adds_runs_under_the_version_before_which_goes_on(
    start: Start, fresh_postgres_url: str, tmp_path: Path, running: ExitStack
) -> None:
    store = ["--database-url", fresh_postgres_url, "--data-dir", str(tmp_path / "data")]
    following = NextVersion(tmp_path / "next", running, claim=COMPATIBLE)
    accepted: set[str] = set()
    process = start("serve", *store, **SETTINGS)
    await prepare(process)
    migrated: list[CompletedProcess[str]] = []

    await under_load(process, accepted, lambda: migrated.append(following.run("migrate", *store)))
    before = len(accepted)
    await under_load(process, accepted, lambda: None)
    restarted = start("worker", *store, **SETTINGS)

    assert (migrated[0].returncode, migrated[0].stdout) == (0, f"Applied {REVISION}.\n"), migrated[0].stderr
    assert len(accepted) > before
    assert (process.popen.poll(), restarted.popen.poll()) == (None, None)
    await check_store(process, store, accepted)


async def test_a_migration_that_breaks_the_version_before_is_refused_until_it_is_stopped_and_then_keeps_it_out(
    start: Start, store: list[str], tmp_path: Path, running: ExitStack
) -> None:
    """On SQLite every migration is refused while a process has the file open."""
    following = NextVersion(tmp_path / "next", running)
    accepted: set[str] = set()
    process = start("serve", *store, **SETTINGS)
    await prepare(process)
    refused: list[CompletedProcess[str]] = []

    await under_load(process, accepted, lambda: refused.append(following.run("migrate", *store)))
    await under_load(process, accepted, lambda: None)
    assert await asyncio.to_thread(process.stop) == 0
    again = following.start("serve", *store, **SETTINGS)
    old = await asyncio.to_thread(run_old, store)

    assert refused[0].returncode == 1
    assert "change what processes of the older version rely on" in refused[0].stderr or "is in use" in refused[0].stderr
    assert (
        old.returncode,
        f"has schema {REVISION}, newer than this Clarion, which knows up to {LATEST}" in old.stderr,
    ) == (
        1,
        True,
    )
    await check_store(again, store, accepted)


async def test_a_process_under_which_a_breaking_migration_is_forced_ends_and_loses_nothing(
    start: Start, fresh_postgres_url: str, tmp_path: Path, running: ExitStack
) -> None:
    store = ["--database-url", fresh_postgres_url, "--data-dir", str(tmp_path / "data")]
    following = NextVersion(tmp_path / "next", running)
    accepted: set[str] = set()
    process = start("serve", *store, **SETTINGS)
    await prepare(process)
    forced: list[CompletedProcess[str]] = []

    await under_load(process, accepted, lambda: forced.append(following.run("migrate", "--force", *store)))
    status = await asyncio.to_thread(process.popen.wait, 60)
    again = following.start("serve", *store, **SETTINGS)

    assert forced[0].returncode == 0, forced[0].stderr
    assert status == 1
    await check_store(again, store, accepted)


def run_old(store: list[str]) -> CompletedProcess[str]:
    command = [sys.executable, "-m", "clarion", "worker", *store]
    return subprocess.run(command, env=clean_environ({}), capture_output=True, text=True, check=False)
