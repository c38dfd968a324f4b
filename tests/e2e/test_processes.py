"""The `clarion` command: processes are started, used, stopped, killed and started again."""

import asyncio
import json
import re
import socket
import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from clarion.db.migrations.revisions import list_known_revisions
from tests.processes import Process, Start


async def test_the_first_start_prints_keys_and_a_curl_line_that_works(start: Start, store: list[str]) -> None:
    process = start("serve", *store)
    _, address, _, authorization, _, content_type, _, body = process.curl_line
    name, _, value = authorization.partition(": ")

    async with httpx.AsyncClient() as client:
        headers = {name: value, "Content-Type": content_type.partition(": ")[2]}
        response = await client.post(address, headers=headers, content=body)

    assert set(process.keys) == {"Development", "Production"}
    assert response.status_code == 201
    assert response.json()["firstName"] == "Ada"


async def test_a_second_start_keeps_everything_and_shows_no_key(start: Start, store: list[str]) -> None:
    first = start("serve", *store)
    key = first.keys["Development"]
    async with first.client(key) as client:
        await client.post("/v2/subscribers", json={"subscriberId": "ada"})
    assert first.stop() == 0

    second = start("serve", *store)
    async with second.client(key) as client:
        found = await client.get("/v2/subscribers/ada")

    assert second.keys == {}
    assert found.status_code == 200


async def test_keys_and_identifiers_can_be_given(start: Start, store: list[str]) -> None:
    key = "a-key-that-was-chosen"
    process = start("serve", *store, CLARION_DEVELOPMENT_API_KEY=key, CLARION_DEVELOPMENT_APP_ID="my-app")

    async with process.client(key) as client:
        me = (await client.get("/v1/environments/me")).json()

    assert (me["name"], me["identifier"]) == ("Development", "my-app")
    assert list(process.keys) == ["Production"]
    assert key not in process.output


async def test_sigterm_lets_a_request_in_flight_finish(start: Start, store: list[str]) -> None:
    process = start("serve", *store)
    parts = urlsplit(process.address)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    body = json.dumps({"subscriberId": "slow"}).encode()
    head = (
        f"POST /v2/subscribers HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey {process.keys['Development']}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    writer.write(head.encode() + body[:5])
    await writer.drain()
    # The response to another request shows that the half-sent one has arrived.
    async with process.client(process.keys["Development"]) as client:
        await client.get("/v1/health-check")

    process.popen.terminate()
    await asyncio.sleep(0.3)
    writer.write(body[5:])
    answer = await reader.read(12)
    writer.close()

    assert answer == b"HTTP/1.1 201"
    assert await asyncio.to_thread(process.popen.wait, 30) == 0


async def test_a_kill_at_any_moment_leaves_one_effect_and_its_response(start: Start, store: list[str]) -> None:
    process = start("serve", *store)
    key = process.keys["Development"]
    for number in range(5):
        name = f"key {number}"
        headers = {"Idempotency-Key": name}

        async def ask(current: Process, name: str = name, headers: dict[str, str] = headers) -> httpx.Response:
            async with current.client(key) as client:
                return await client.post("/v1/environments/api-keys", json={"name": name}, headers=headers)

        asked = asyncio.gather(*(ask(process) for _ in range(4)), return_exceptions=True)
        await asyncio.sleep(0.002 * number)
        process.kill()
        before = [one for one in await asked if isinstance(one, httpx.Response) and one.status_code == 201]

        process = start("serve", *store)
        after = await ask(process)
        async with process.client(key) as client:
            listed = (await client.get("/v1/environments/api-keys")).json()

        assert after.status_code == 201
        assert {one.content for one in before} <= {after.content}
        assert [one["name"] for one in listed].count(name) == 1


async def test_keys_are_created_and_revoked_while_the_service_runs(
    start: Start, run_command: Any, store: list[str]
) -> None:
    process = start("serve", *store)
    made = run_command("keys", "create", "--environment", "Production", "--scope", "subscribers:read", *store)
    key = made.stdout.strip().splitlines()[-1]
    async with process.client(key) as client:
        assert (await client.get("/v2/subscribers")).status_code == 200
        assert (await client.post("/v2/subscribers", json={"subscriberId": "x"})).status_code == 403
        listed = run_command("keys", "list", *store)
        (line,) = [line for line in listed.stdout.splitlines() if key[-4:] in line]
        key_id = next(word for word in line.split() if word.count("-") == 4)

        revoked = run_command("keys", "revoke", key_id, *store)

        assert revoked.returncode == 0
        statuses = []
        for _ in range(100):
            statuses.append((await client.get("/v2/subscribers")).status_code)
            if statuses[-1] == 401:
                break
            await asyncio.sleep(0.1)
    assert statuses[-1] == 401


async def test_api_and_worker_processes_share_a_store(
    start: Start, run_command: Any, fresh_postgres_url: str, tmp_path: Path
) -> None:
    store = ["--database-url", fresh_postgres_url, "--data-dir", str(tmp_path / "data")]
    assert "run `clarion migrate` first" in run_command("api", *store).stderr
    assert run_command("migrate", *store).stdout == f"Applied {', '.join(list_known_revisions())}.\n"
    assert run_command("migrate", *store).stdout == "The store is up to date.\n"

    first = start("api", *store)
    second = start("api", *store)
    keys = first.keys or second.keys
    async with first.client(keys["Development"]) as one, second.client(keys["Development"]) as two:
        await one.post("/v2/subscribers", json={"subscriberId": "ada"})
        found = await two.get("/v2/subscribers/ada")

    assert found.status_code == 200


async def test_two_processes_on_an_empty_store_set_it_up_once(
    start: Start, run_command: Any, fresh_postgres_url: str, tmp_path: Path
) -> None:
    store = ["--database-url", fresh_postgres_url, "--data-dir", str(tmp_path / "data")]
    processes = await asyncio.gather(*(asyncio.to_thread(start, "serve", *store) for _ in range(3)))
    listed = run_command("environments", "list", *store)

    assert sorted(len(process.keys) for process in processes) == [0, 0, 2]
    assert listed.stdout.count("Development") == 1


@pytest.mark.parametrize(
    ("arguments", "environ", "sentence"),
    [
        (["serve", "--port", "x"], {}, "CLARION_PORT must be a whole number, not 'x'."),
        (["serve"], {"CLARION_LOG_LEVEL": "loud"}, "CLARION_LOG_LEVEL must be one of"),
        (["serve", "--database-url", "mysql://x"], {}, "CLARION_DATABASE_URL must be postgresql://"),
        (["serve"], {"CLARION_ENCRYPTION_KEYS": "x"}, "CLARION_ENCRYPTION_KEYS must be"),
        (
            ["keys", "create", "--environment", "Staging"],
            {},
            "There is no environment 'Staging'; there are Development, Production.",
        ),
        (["keys", "create", "--environment", "Production", "--scope", "x"], {}, "There is no scope 'x'"),
        (["keys", "revoke", "x"], {}, "There is no API key 'x'"),
    ],
)
async def test_invalid_settings_and_arguments_are_rejected_with_one_sentence(
    start: Start, run_command: Any, tmp_path: Path, arguments: list[str], environ: dict[str, str], sentence: str
) -> None:
    store = ["--data-dir", str(tmp_path / "data")]
    if arguments[0] == "keys":
        start("serve", *store).stop()

    done = run_command(*arguments, *store, **environ)

    assert done.returncode == 2
    assert done.stderr.startswith("clarion: ")
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


async def test_unusable_stores_and_ports_are_reported(start: Start, run_command: Any, tmp_path: Path) -> None:
    store = ["--data-dir", str(tmp_path / "data")]
    process = start("serve", *store)
    port = str(urlsplit(process.address).port)
    taken = run_command("serve", "--data-dir", str(tmp_path / "other"), "--port", port)
    process.stop()
    connection = sqlite3.connect(tmp_path / "data" / "clarion.db")
    with connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    newer = run_command("serve", *store, "--port", "0")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"postgresql://x@127.0.0.1:{free.getsockname()[1]}/x"
    unreachable = run_command("serve", "--database-url", nobody, *store)

    assert f"Cannot listen on 127.0.0.1:{port}" in taken.stderr
    assert "9999, newer than this Clarion" in newer.stderr
    assert "PostgreSQL cannot be reached" in unreachable.stderr
    assert (taken.returncode, newer.returncode, unreachable.returncode) == (2, 1, 1)


async def test_a_store_with_other_encryption_keys_is_refused(start: Start, run_command: Any, store: list[str]) -> None:
    start("serve", *store).stop()

    done = run_command("serve", *store, CLARION_ENCRYPTION_KEYS="other:" + "A" * 43 + "=")

    assert done.returncode == 2
    assert re.search("sealed with encryption key 'k-[0-9a-f]{12}', which this process does not have", done.stderr)
    assert "CLARION_ENCRYPTION_KEYS" in done.stderr


def test_help_lists_all_commands_and_settings(run_command: Any) -> None:
    shown = run_command("--help").stdout

    for word in ("serve", "api", "worker", "migrate", "keys", "environments", "encryption", "settings"):
        assert word in shown
    assert "CLARION_DATABASE_URL" in run_command("serve", "--help", COLUMNS="160").stdout
    assert run_command("--version").stdout.startswith("clarion 0.")
    assert "CLARION_CORS_ORIGINS" in run_command("settings", COLUMNS="160").stdout
