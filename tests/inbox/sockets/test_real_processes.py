"""Sockets of real processes: an API and a worker, kills, and shutdown."""

import asyncio
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clarion.clock import SystemClock
from clarion.http.caller import SubscriberSession
from clarion.ids import EnvironmentId, OrganizationId, SubscriberId, find_id
from clarion.inbox.sessions.tokens import SessionTokens
from clarion.vault import Vault
from tests.inbox.sockets.clients import COUNT_EVENTS, TIMEOUT_SECONDS, PlainClient, SocketIoClient, names
from tests.processes import Process, Start

KEY = "test-key-of-development"
ENCRYPTION_KEYS = "test:" + "A" * 43 + "="
ENVIRON = {"CLARION_DEVELOPMENT_API_KEY": KEY, "CLARION_ENCRYPTION_KEYS": ENCRYPTION_KEYS}
WORKFLOW = {
    "name": "Hello",
    "workflowId": "hello",
    "active": True,
    "steps": [{"name": "Inbox", "type": "in_app", "controlValues": {"body": "Hello"}}],
}
# In any order: people are counted again soon after the first socket, perhaps just before a message is announced.
ARRIVAL = sorted(["notification_received", *COUNT_EVENTS])


class Api:
    """Requests to one process, and the tokens of people."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.client = process.client(KEY)

    async def set_up(self) -> None:
        (await self.client.post("/v2/workflows", json=WORKFLOW)).raise_for_status()

    async def make_token(self, key: str = "ada") -> str:
        person = (await self.client.post("/v2/subscribers", json={"subscriberId": key})).raise_for_status().json()
        ids = [find_id(person[name]) for name in ("_id", "_environmentId", "_organizationId")]
        assert all(ids)
        session = SubscriberSession(subscriber_id=SubscriberId(ids[0] or b""), epoch=0)
        tokens = SessionTokens(Vault.parse(ENCRYPTION_KEYS), SystemClock())
        return tokens.issue(session, EnvironmentId(ids[1] or b""), OrganizationId(ids[2] or b""))

    async def trigger(self, to: str = "ada") -> None:
        (await self.client.post("/v1/events/trigger", json={"name": "hello", "to": to})).raise_for_status()

    async def wait_until_online(self, *, is_online: bool, key: str = "ada") -> dict[str, Any]:
        async with asyncio.timeout(3 * TIMEOUT_SECONDS):
            while True:
                found: dict[str, Any] = (await self.client.get(f"/v2/subscribers/{key}")).raise_for_status().json()
                if bool(found["isOnline"]) == is_online:
                    return found
                await asyncio.sleep(0.1)


async def test_a_trigger_reaches_sockets_and_sigterm_closes_them(store: list[str], tmp_path: Path) -> None:
    log = tmp_path / "log"
    process = Process(["serve", *store], ENVIRON | {"CLARION_LOG_LEVEL": "debug"}, log=log)
    try:
        api = Api(process)
        await api.set_up()
        token = await api.make_token()
        async with (
            PlainClient.open(process.address, token) as plain,
            SocketIoClient.open(process.address, token) as other,
        ):
            for one in (plain, other):
                assert names(await one.events(2)) == COUNT_EVENTS
            await api.trigger()
            events = await plain.events(3)
            await api.wait_until_online(is_online=True)
            await api.client.get(f"/socket.io/?EIO=4&transport=polling&token={token}")
            await api.client.aclose()
            stopping = asyncio.create_task(asyncio.to_thread(process.stop))

            assert sorted(names(events)) == ARRIVAL
            assert dict(events)["notification_received"]["message"]["content"] == "Hello"
            assert await other.events(3) == events
            assert await plain.wait_closed() == 1012
            assert await other.wait_closed() == 1012
            assert await stopping == 0
    finally:
        process.close()
    assert "/socket.io/" in log.read_text()
    assert token not in log.read_text()


async def test_workers_push_through_other_processes_and_the_dead_go_offline(
    start: Start, run_command: Callable[..., subprocess.CompletedProcess[str]], fresh_postgres_url: str, tmp_path: Path
) -> None:
    environ = ENVIRON | {"CLARION_DATABASE_URL": fresh_postgres_url, "CLARION_DATA_DIR": str(tmp_path)}
    assert run_command("migrate", **environ).returncode == 0
    first, second = Api(start("api", **environ)), Api(start("api", **environ))
    start("worker", **environ)
    await first.set_up()
    ada, bob = await first.make_token("ada"), await first.make_token("bob")
    async with (
        PlainClient.open(first.process.address, ada) as socket,
        PlainClient.open(first.process.address, bob) as lost,
        PlainClient.open(second.process.address, bob) as kept,
    ):
        for one in (socket, lost, kept):
            await one.events(2)
        # The worker learns that the environment is watched a moment after the first socket is open.
        await asyncio.sleep(2)
        await second.trigger("ada")
        assert sorted(names(await socket.events(3))) == ARRIVAL
        await first.trigger("bob")
        assert sorted(names(await lost.events(3))) == sorted(names(await kept.events(3))) == ARRIVAL
        await second.wait_until_online(is_online=True)
        await second.wait_until_online(is_online=True, key="bob")

        first.process.kill()

        assert await lost.wait_closed() == 1006
        # Ada comes back at the other process, and is told what she missed.
        await second.trigger("ada")
        async with PlainClient.open(second.process.address, ada) as again:
            total = 0
            while total < 2:
                ((name, data),) = await again.events(1)
                total = data["counts"]["total"] if name == "unread_count_changed" else total
        offline = await second.wait_until_online(is_online=False)

        assert offline["lastOnlineAt"]
        assert (await second.client.get("/v2/subscribers/bob")).json()["isOnline"]
    for api in (first, second):
        await api.client.aclose()
