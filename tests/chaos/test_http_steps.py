"""A worker is killed between the call of an HTTP step and its record: the URL is called again with the same key."""

import asyncio

from clarion.db.query import sql
from tests.chaos.test_kills import open_store
from tests.e2e.test_shutdown import KEY, SETTINGS, Provider
from tests.processes import Start
from tests.providers.loopback import web_server

# As if the time of the lease had passed.
END_LEASES = sql("UPDATE jobs SET due_at = 1 WHERE status = 'running' AND type = 'http_request' AND :now > 0")
COUNT_OPEN = sql("SELECT count(*) AS n FROM jobs WHERE status NOT IN ('completed', 'skipped') AND :now > 0")


async def test_a_killed_call_is_made_again_with_the_same_key(start: Start, store: list[str]) -> None:
    provider = Provider()
    async with web_server(provider.respond) as provider.server:
        process = start("serve", *store, **SETTINGS)
        steps = [
            {"name": "Fetch", "type": "http_request", "controlValues": {"url": provider.server.url("/people")}},
            {"name": "Inbox", "type": "in_app", "controlValues": {"body": "{{steps.fetch.body}}"}},
        ]
        async with process.client(KEY) as client:
            body = {"name": "Fetch", "workflowId": "fetch", "active": True, "steps": steps}
            assert (await client.post("/v2/workflows", json=body)).status_code == 201
            answer = await client.post("/v1/events/trigger", json={"name": "fetch", "to": "ada", "payload": {}})
            assert answer.status_code == 201, answer.text
        await provider.has(1)
        process.kill()
        provider.is_released.set()

        database = await open_store(store)
        assert await database.transaction(lambda db: db.execute(END_LEASES, now=1)) == 1
        start("serve", *store, **SETTINGS)
        await provider.has(2)
        async with asyncio.timeout(60):
            while (await database.read(lambda db: db.fetch_one(COUNT_OPEN, now=1)) or {})["n"]:  # noqa: ASYNC110 - a store
                await asyncio.sleep(0.05)
        await database.close()

    keys = {line for one in provider.server.requests for line in one.split(b"\r\n") if line.startswith(b"Idempotency")}
    assert (len(provider.server.requests), len(keys)) == (2, 1)
