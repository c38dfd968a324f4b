"""What a first start makes: encryption keys, API keys and private files; in real processes."""

import asyncio
import base64
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.processes import Start

Run = Callable[..., Any]


async def test_keys_are_shown_by_the_process_that_serves_although_a_worker_was_first(
    start: Start, run_command: Run, fresh_postgres_url: str, tmp_path: Path
) -> None:
    store = ["--database-url", fresh_postgres_url, "--data-dir", str(tmp_path / "data")]
    assert run_command("migrate", *store).returncode == 0

    worker = start("worker", *store)
    first, second = await asyncio.gather(*(asyncio.to_thread(start, "api", *store) for _ in range(2)))
    keys = first.keys or second.keys
    async with first.client(keys["Development"]) as client:
        answer = await client.get("/v1/environments/me")

    assert worker.keys == {}
    assert sorted(len(one.keys) for one in (first, second)) == [0, 2]
    assert answer.json()["name"] == "Development"


async def test_an_environment_whose_keys_were_made_by_the_operator_gets_no_other(
    start: Start, run_command: Run, fresh_postgres_url: str, tmp_path: Path
) -> None:
    store = ["--database-url", fresh_postgres_url, "--data-dir", str(tmp_path / "data")]
    run_command("migrate", *store)
    start("worker", *store)
    made = run_command("keys", "create", "--environment", "Development", *store).stdout.split()[-1]

    api = start("api", *store)
    listed = run_command("keys", "list", *store).stdout

    assert list(api.keys) == ["Production"]
    assert (listed.count("Development"), made[-4:] in listed) == (1, True)


async def test_keys_of_the_settings_are_not_printed(start: Start, store: list[str]) -> None:
    given = {f"CLARION_{name}_API_KEY": f"the-key-of-{name}" for name in ("DEVELOPMENT", "PRODUCTION")}

    process = start("serve", *store, **given)
    async with process.client(given["CLARION_PRODUCTION_API_KEY"]) as client:
        answer = await client.get("/v1/environments/me")

    assert answer.json()["name"] == "Production"
    assert process.keys == {}
    assert not [key for key in given.values() if key in process.output]


async def test_a_process_with_another_data_folder_and_its_own_key_does_not_start(
    start: Start, run_command: Run, fresh_postgres_url: str, tmp_path: Path
) -> None:
    first = ["--database-url", fresh_postgres_url, "--data-dir", str(tmp_path / "first")]
    second = ["--database-url", fresh_postgres_url, "--data-dir", str(tmp_path / "second")]
    start("serve", *first)

    refused = [run_command(command, *second) for command in ("api", "worker", "serve")]
    keys = (tmp_path / "first" / "encryption.keys").read_text()
    key_id = keys.partition(":")[0]
    with_the_setting = start("worker", *second, CLARION_ENCRYPTION_KEYS=keys.strip())
    left_behind = (tmp_path / "second").exists()
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "encryption.keys").write_text(keys)
    with_the_file = start("worker", *second)

    for done in refused:
        assert done.returncode == 2
        assert f"sealed with encryption key '{key_id}', which this process does not have" in done.stderr
        assert f"copy the file encryption.keys of the process that set up the store to {tmp_path / 'second'}" in (
            done.stderr
        )
    assert not left_behind
    assert with_the_setting.popen.poll() is with_the_file.popen.poll() is None


async def test_of_two_first_processes_with_different_keys_one_refuses_to_start(
    start: Start, run_command: Run, fresh_postgres_url: str, tmp_path: Path
) -> None:
    run_command("migrate", "--database-url", fresh_postgres_url)
    folders = [tmp_path / name for name in ("one", "two", "three")]

    async def try_to_start(folder: Path) -> bool:
        store = ["--database-url", fresh_postgres_url, "--data-dir", str(folder)]
        try:
            await asyncio.to_thread(start, "worker", *store)
        except AssertionError:
            return False
        return True

    started = await asyncio.gather(*map(try_to_start, folders))

    assert sorted(started) == [False, False, True]


async def test_stores_whose_key_is_called_k1_work_with_that_key_and_refuse_another(
    start: Start, run_command: Run, store: list[str], tmp_path: Path
) -> None:
    def key_line(letter: bytes) -> str:
        return f"k1:{base64.b64encode(letter * 32).decode()}"

    path = tmp_path / "data" / "encryption.keys"
    path.parent.mkdir()
    path.write_text(f"{key_line(b'a')}\n")
    assert start("serve", *store).stop() == 0
    assert start("serve", *store).stop() == 0

    other = run_command("serve", *store, CLARION_ENCRYPTION_KEYS=key_line(b"b"))
    path.unlink()
    lost = run_command("serve", *store)

    for done in (other, lost):
        assert done.returncode == 2
        assert "sealed with encryption key 'k1', which this process does not have" in done.stderr


async def test_the_store_and_its_folder_are_for_their_owner_alone(start: Start, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"

    start("serve", "--data-dir", str(folder))

    modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in folder.iterdir()}
    assert modes == dict.fromkeys(["clarion.db", "clarion.db-wal", "clarion.db-shm", "encryption.keys"], 0o600)
    assert {stat.S_IMODE(one.stat().st_mode) for one in (folder, folder.parent)} == {0o700}


async def test_files_that_others_can_read_are_tightened_and_a_folder_of_the_user_stays(
    start: Start, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir(mode=0o755)
    store = ["--data-dir", str(folder)]
    start("serve", *store).stop()
    for one in folder.iterdir():
        one.chmod(0o644)

    start("serve", *store)

    assert {stat.S_IMODE(one.stat().st_mode) for one in folder.iterdir()} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755
