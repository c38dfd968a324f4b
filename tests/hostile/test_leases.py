"""A worker whose event loop is blocked keeps its sends, and sends nothing after it has lost them."""

import asyncio
import base64
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from tests.chaos.test_kills import SETTINGS, counting_provider
from tests.engine.providers import ADA, EMAIL
from tests.processes import Process, Start

KEYS = f"test:{base64.b64encode(bytes(range(32))).decode()}"
MAILS = 20


def start_worker(url: str, *, blocked_seconds: float) -> subprocess.Popen[str]:
    arguments = ["-m", "tests.hostile.blocked_worker", url, KEYS, str(blocked_seconds)]
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    worker = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, text=True, env=environ)
    assert worker.stdout is not None
    assert worker.stdout.readline() == "works\n"
    return worker


async def trigger_mails(api: Process, integration: dict[str, Any]) -> None:
    async with api.client(SETTINGS["CLARION_DEVELOPMENT_API_KEY"]) as client:
        assert (await client.post("/v1/integrations", json=integration)).status_code == 201
        workflow = {"name": "W", "workflowId": "w", "active": True, "steps": [EMAIL]}
        assert (await client.post("/v2/workflows", json=workflow)).status_code == 201
        events = [{"name": "w", "to": ADA, "payload": {"n": number}} for number in range(MAILS)]
        assert (await client.post("/v1/events/trigger/bulk", json={"events": events})).status_code == 201


async def count_completed(api: Process) -> int:
    async with api.client(SETTINGS["CLARION_DEVELOPMENT_API_KEY"]) as client:
        events = (await client.get("/v1/notifications", params={"limit": 50})).json()["data"]
    return sum(job["status"] == "completed" for event in events for job in event["jobs"])


async def test_a_worker_whose_loop_is_blocked_past_its_leases_keeps_its_sends(
    start: Start, run_command: Any, fresh_postgres_url: str, tmp_path: Path
) -> None:
    """The answers of the provider wait in the sockets while another worker looks for sends whose lease has lapsed."""
    store = ["--data-dir", str(tmp_path / "data"), "--database-url", fresh_postgres_url]
    settings = SETTINGS | {"CLARION_EGRESS_ALLOW": "127.0.0.0/8", "CLARION_ENCRYPTION_KEYS": KEYS}
    run_command("migrate", *store)
    api = start("api", *store, **settings)
    received: Counter[str] = Counter()
    async with counting_provider(received, after_seconds=2.0) as integration:
        blocked = await asyncio.to_thread(start_worker, fresh_postgres_url, blocked_seconds=6.0)
        await trigger_mails(api, integration)
        assert blocked.stdout is not None
        assert await asyncio.to_thread(blocked.stdout.readline) == "sends\n"
        other = await asyncio.to_thread(start_worker, fresh_postgres_url, blocked_seconds=0)
        for worker in (blocked, other):
            assert await asyncio.to_thread(worker.wait, 60) == 0
            assert worker.stdout is not None
            worker.stdout.close()

    assert (len(received), set(received.values())) == (MAILS, {1})
    assert await count_completed(api) == MAILS
