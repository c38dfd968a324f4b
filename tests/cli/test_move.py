"""An installation moves from SQLite to PostgreSQL, and goes on there."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import asyncpg
import httpx
import pytest

from clarion.db.migrations.migrate import migrate_sqlite
from clarion.db.move import move_to_postgres
from clarion.db.sqlite.database import connect
from clarion.errors import StoreError
from tests.processes import Start

Run = Callable[..., CompletedProcess[str]]

KEY = "the-key-of-development"
SETTINGS = {"CLARION_DEVELOPMENT_API_KEY": KEY}
WORKFLOW = {
    "name": "Reminder",
    "workflowId": "reminder",
    "active": True,
    "steps": [
        {"name": "Now", "type": "in_app", "controlValues": {"body": "now {{payload.n}}"}},
        {"name": "Wait", "type": "delay", "controlValues": {"type": "regular", "amount": 5, "unit": "seconds"}},
        {"name": "Later", "type": "in_app", "controlValues": {"body": "later {{payload.n}}"}},
    ],
}
MAIL = {
    "providerId": "sendgrid",
    "channel": "email",
    "active": True,
    "credentials": {"apiKey": "SG.secret", "from": "news@example.com"},
}


async def fill(client: httpx.AsyncClient) -> dict[str, Any]:
    """Use what every table of importance is filled by; returns the answer of a request with an idempotency key."""
    people = [{"subscriberId": f"person-{n}", "email": f"p{n}@example.com", "data": {"n": n}} for n in range(30)]
    await client.post("/v1/subscribers/bulk", json={"subscribers": people})
    await client.post("/v2/topics/news/subscriptions", json={"subscriberIds": ["person-1", "person-2"]})
    await client.patch("/v2/subscribers/person-2/preferences", json={"channels": {"email": False}})
    assert (await client.post("/v1/integrations", json=MAIL)).status_code == 201
    assert (await client.post("/v2/workflows", json=WORKFLOW)).status_code == 201
    body = {"name": "reminder", "to": "person-1", "payload": {"n": 1}}
    answer = await client.post("/v1/events/trigger", json=body, headers={"Idempotency-Key": "once"})
    for n in (2, 3):
        await client.post("/v1/events/trigger", json={"name": "reminder", "to": f"person-{n}", "payload": {"n": n}})
    stored: dict[str, Any] = answer.json()
    return stored


async def feed(client: httpx.AsyncClient, number: int) -> list[str]:
    page = (await client.get(f"/v1/subscribers/person-{number}/notifications/feed")).json()
    return sorted(one["content"] for one in page["data"])


async def wait_for_feed(client: httpx.AsyncClient, number: int, expected: list[str]) -> None:
    async with asyncio.timeout(60):
        while await feed(client, number) != expected:  # noqa: ASYNC110 - another process fills it
            await asyncio.sleep(0.1)


async def test_an_installation_goes_on_where_it_was_moved_to(
    start: Start, run_command: Run, fresh_postgres_url: str, tmp_path: Path
) -> None:
    data = ["--data-dir", str(tmp_path / "data")]
    process = start("serve", *data, **SETTINGS)
    async with process.client(KEY) as client:
        first_answer = await fill(client)
        for number in (1, 2, 3):
            await wait_for_feed(client, number, [f"now {number}"])
    in_use = run_command("move", *data, CLARION_DATABASE_URL=fresh_postgres_url)
    process.stop()

    moved = run_command("move", *data, CLARION_DATABASE_URL=fresh_postgres_url)
    twice = run_command("move", *data, CLARION_DATABASE_URL=fresh_postgres_url)
    again = start("serve", *data, "--database-url", fresh_postgres_url, **SETTINGS)
    async with again.client(KEY) as client:
        body = {"name": "reminder", "to": "person-1", "payload": {"n": 1}}
        replay = await client.post("/v1/events/trigger", json=body, headers={"Idempotency-Key": "once"})
        found = (await client.get("/v2/subscribers", params={"email": "p27@example"})).json()["data"]
        members = (await client.get("/v2/topics/news/subscriptions")).json()["data"]
        integrations = (await client.get("/v1/integrations")).json()
        for number in (1, 2, 3):
            await wait_for_feed(client, number, [f"later {number}", f"now {number}"])

    assert (in_use.returncode, "is in use: stop `clarion serve`" in in_use.stderr) == (1, True)
    assert moved.returncode == 0, moved.stderr
    assert "encryption.keys" in moved.stdout
    assert _count_of(moved.stdout, "subscribers") == ["30", "30"]
    assert (twice.returncode, "The target is not empty" in twice.stderr) == (1, True)
    assert (replay.json(), replay.headers["idempotency-replay"]) == (first_answer, "true")
    assert [one["subscriberId"] for one in found] == ["person-27"]
    assert len(members) == 2
    assert [one["credentials"]["apiKey"] for one in integrations if one["providerId"] == "sendgrid"] == ["SG.secret"]


def _count_of(output: str, table: str) -> list[str]:
    (line,) = [line for line in output.splitlines() if f" {table} " in line]
    return [part for part in line.split() if part.isdigit()]


async def test_a_move_that_fails_leaves_nothing_behind_and_can_be_repeated(
    run_command: Run, fresh_postgres_url: str, tmp_path: Path
) -> None:
    """PostgreSQL stores no text with a zero byte; the table comes late, when others have been copied."""
    path = tmp_path / "clarion.db"
    migrate_sqlite(path)
    assert run_command("migrate", "--database-url", fresh_postgres_url).returncode == 0
    store = connect(path)
    rows = [(n.to_bytes(16), "Name", n) for n in range(1, 2001)]
    store.executemany("INSERT INTO organizations (id, name, created_at) VALUES (?, ?, ?)", rows)
    columns = "environment_id, id, key, created_at, updated_at"
    topic = f"INSERT INTO topics ({columns}) VALUES (zeroblob(16), zeroblob(16), ?, 1, 1)"
    store.execute(topic, ["zero \0 byte"])
    connection = await asyncpg.connect(fresh_postgres_url)

    store.close()
    with pytest.raises(StoreError, match="A row of the table topics does not fit; nothing was moved"):
        await move_to_postgres(path, fresh_postgres_url)
    left = await connection.fetchval("SELECT count(*) FROM organizations")
    store = connect(path)
    store.execute("UPDATE topics SET key = 'fine'")
    store.close()
    counts = await move_to_postgres(path, fresh_postgres_url)
    await connection.close()

    assert left == 0
    assert {one.table: one.rows for one in counts if one.rows} == {"organizations": 2000, "topics": 1}
