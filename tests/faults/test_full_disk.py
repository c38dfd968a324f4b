"""A store that cannot grow or be written to: writes get a 503, reads go on, and nothing is half-written."""

import asyncio
import itertools
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.chaos.invariants import find_broken
from tests.chaos.test_kills import open_store
from tests.faults.conftest import Accepted, wait_for_status
from tests.hostile.target import Target
from tests.processes import Start


@contextmanager
def no_room(target: Target) -> Iterator[None]:
    """Keep every file of the process from growing beyond the size of the store's log."""
    pid = target.process.popen.pid
    size = Path(target.store["--data-dir"], "clarion.db-wal").stat().st_size
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


async def test_a_full_disk_is_a_503_until_there_is_room_again(embedded: Target) -> None:
    text = "x" * 100_000
    async with embedded.tenant() as client:
        triggers = Accepted(client, "full-disk")
        with no_room(embedded):
            numbers = itertools.count()
            refused = await wait_for_status(503, lambda: triggers.trigger(f"during-{next(numbers)}", text))
            bulk = [{"name": "greeting", "to": "bulk", "payload": {"n": text[:8000]}} for _ in range(100)]
            refused_bulk = await client.post("/v1/events/trigger/bulk", json={"events": bulk})
            read = await client.get("/v2/subscribers")
        await wait_for_status(201, lambda: triggers.trigger("after"))
        for one in [one for one, status in triggers.statuses.items() if status == 503]:
            # The same request again: what was refused was not written.
            assert (await triggers.trigger(one, text)).status_code == 201
        await triggers.wait_until_done()
        of_bulk = await client.get("/v1/messages?subscriberId=bulk")

    for response in (refused, refused_bulk):
        assert response.status_code == 503
        assert int(response.headers["retry-after"]) >= 1
    assert read.status_code == 200
    assert of_bulk.json()["data"] == []
    database = await open_store([part for pair in embedded.store.items() for part in pair])
    try:
        assert await database.scan(find_broken) == {}
    finally:
        await database.close()


async def test_a_store_that_is_read_only_is_served_for_reading(start: Start, tmp_path: Path) -> None:
    key, store = "key-of-a-read-only-store", ["--data-dir", str(tmp_path)]
    first = start("serve", *store, CLARION_DEVELOPMENT_API_KEY=key)
    async with first.client(key) as client:
        await client.post("/v2/subscribers", json={"subscriberId": "ada"})
    assert await asyncio.to_thread(first.stop) == 0
    # SQLite takes a file of a later write version as read-only. Permissions would not stop an administrator.
    with (tmp_path / "clarion.db").open("r+b") as file:
        file.seek(18)
        file.write(b"\x03")

    second = start("serve", *store)
    async with second.client(key) as client:
        read = await client.get("/v2/subscribers/ada")
        refused = await client.patch("/v2/subscribers/ada", json={"firstName": "Ada"})
        unchanged = await client.get("/v2/subscribers/ada")

    assert read.status_code == 200
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert unchanged.json() == read.json()
