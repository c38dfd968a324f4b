"""A worker with short leases, as a process of its own: `python -m tests.hostile.blocked_worker URL KEYS SECONDS`.

Once it is sending, its event loop is blocked for the given time by code that never awaits. It prints a line when it
sends, and ends by itself.
"""

import asyncio
import sys
import time

from clarion.background import Supervisor
from clarion.bus import Bus
from clarion.clock import Millis, SystemClock
from clarion.db.postgres.database import PostgresDatabase
from clarion.engine.worker import Engine
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.egress import EgressGuard
from clarion.vault import Vault

LEASE = Millis(2_000)
LIFE_SECONDS = 12.0


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


async def main(url: str, keys: str, blocked_seconds: float) -> None:
    database = await PostgresDatabase.connect(url, pool_size=4)
    ends_at = time.monotonic() + LIFE_SECONDS
    async with ProviderGateway(EgressGuard(("127.0.0.0/8",))) as gateway:
        engine = Engine(database, clock=SystemClock(), vault=Vault.parse(keys), bus=Bus(), gateway=gateway, lease=LEASE)
        work = asyncio.create_task(Supervisor().run(engine.list_services()))
        say("works")
        while blocked_seconds and len(engine.sender._places) == 0:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.01)
        # The requests are on their way, and their answers come while the loop is blocked.
        await asyncio.sleep(0.5)
        say("sends")
        blocked_until = time.monotonic() + blocked_seconds
        while time.monotonic() < blocked_until:
            pass
        await asyncio.sleep(max(ends_at - time.monotonic(), 0))
        work.cancel()
        await asyncio.wait([work])
    await database.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], float(sys.argv[3])))
