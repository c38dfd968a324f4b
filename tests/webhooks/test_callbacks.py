"""Reply callbacks, whose events have URLs of their own, and how the hosts of these share what is posted at a time."""

import asyncio

from clarion.clock import ManualClock
from clarion.db.port import Connection, Database
from clarion.ids import SubscriberId, new_id
from clarion.vault import Vault
from clarion.webhooks.callbacks import append_callback, ensure_callback_endpoint, host_of
from clarion.webhooks.sender import MAX_PER_ENDPOINT, WebhookSender
from tests.providers.loopback import answering
from tests.support import Api
from tests.webhooks.support import receiver


async def test_a_slow_host_holds_up_no_callbacks_to_others(
    api: Api, database: Database, vault: Vault, webhooks: WebhookSender, clock: ManualClock
) -> None:
    environment_id, now = api.environment.id, clock.now()
    released, came_in = asyncio.Event(), asyncio.Event()

    async def answer_late(request: bytes, writer: asyncio.StreamWriter) -> None:
        await released.wait()
        await answering(204, "")(request, writer)

    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        came_in.set()
        await answering(204, "")(request, writer)

    async def queue(db: Connection) -> None:
        await ensure_callback_endpoint(db, environment_id, vault, now)
        for url in [*[slow.url] * 50, quick.url]:
            await append_callback(db, environment_id, url, {}, now, about=SubscriberId(new_id(now)))

    async with receiver(answer_late) as slow, receiver(answer) as quick:
        await database.transaction(queue)

        first = asyncio.create_task(webhooks.work())
        await came_in.wait()
        waiting = len(slow.received)
        clock.move(1)
        is_more_claimed = await webhooks.claim()
        released.set()
        await first
        while await webhooks.work():
            pass

        assert waiting <= MAX_PER_ENDPOINT
        assert not is_more_claimed
        assert (len(slow.received), len(quick.received)) == (50, 1)


def test_a_host_is_counted_with_its_port_and_without_credentials() -> None:
    assert [host_of(url) for url in ("https://a:b@Hooks.example.com/x", "http://hooks.example.com:81", "")] == [
        "hooks.example.com",
        "hooks.example.com:81",
        "",
    ]
