"""Environments beside the first one, written directly into the store, because the API does not create any."""

from typing import Any

from msgspec import structs

from bench.systems import System
from bench.writers import Row, Writer, open_writer
from clarion.environments.model import hash_key

_DEVELOPMENT = "Development"
_MILLISECONDS_A_DAY = 86_400_000


async def make_tenants(system: System, count: int) -> list[System]:
    """Create environments with an API key each, and return the system once for each key."""
    keys = [f"bench-key-of-tenant-{number}" for number in range(count)]
    async with open_writer(system) as store:
        environments = await _insert_environments(store, "Tenant", count)
        first = await store.find(
            "SELECT * FROM api_keys WHERE environment_id = (SELECT id FROM environments WHERE name = {})", _DEVELOPMENT
        )
        rows = [
            first | {"environment_id": one["id"], "id": store.make_id(), "hash": bytes(hash_key(key))}
            for one, key in zip(environments, keys, strict=True)
        ]
        await store.insert("api_keys", rows)
    return [structs.replace(system, key=key) for key in keys]


async def make_idle_environments(system: System, count: int) -> list[Any]:
    """Create environments without any content and return their ids."""
    async with open_writer(system) as store:
        return [row["id"] for row in await _insert_environments(store, "Idle", count)]


async def make_waiting_jobs(system: System, environment_ids: list[Any]) -> None:
    """Give each environment a job that is due tomorrow; it is a copy of a job that waits in the first environment."""
    async with open_writer(system) as store:
        first = await store.find("SELECT * FROM jobs WHERE queue = 1 AND type = {} LIMIT 1", "delay")
        fresh = {"due_at": first["due_at"] + _MILLISECONDS_A_DAY}
        rows = [
            first | fresh | {"environment_id": one, "id": store.make_id(), "notification_id": store.make_id()}
            for one in environment_ids
        ]
        await store.insert("jobs", rows)


async def _insert_environments(store: Writer, name: str, count: int) -> list[Row]:
    first = await store.find("SELECT * FROM environments WHERE name = {}", _DEVELOPMENT)
    rows = [
        first | {"id": store.make_id(), "name": f"{name} {number}", "identifier": f"{name.lower()}-{number}"}
        for number in range(count)
    ]
    await store.insert("environments", rows)
    return rows
