"""The server that shows the minimum cost of HTTP."""

from pathlib import Path

from bench.client import send_closed
from bench.systems import Site, start_http_floor
from bench.workloads.trigger import make_triggers
from tests.servers import PostgresServer


async def test_the_floor_accepts_triggers(tmp_path: Path) -> None:
    site = Site(folder=tmp_path, server=PostgresServer(url="", handle=None))

    async with start_http_floor(site, "test") as floor:
        load = await send_closed(floor.address, make_triggers(floor, 3).requests)

    load.require(201)
