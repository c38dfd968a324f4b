"""What an open inbox costs: the counts of its bell and a page of its list, for people with few and with many messages.

The floor is a POST without work on the same HTTP stack, measured in the same rounds.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from bench.client import make_request, send_closed
from bench.content import ensure_workflow
from bench.copies import open_writer
from bench.figures import Figure
from bench.processes import cpu_between, cpu_seconds
from bench.systems import Site, System, start_clarion, start_http_floor
from bench.workloads import trigger

NAME = "mailbox"
MESSAGES = {"few": 100, "many": 100_000}

_ROUNDS = 9
_COUNT = 1000
_CONNECTIONS = 16
_BATCH = 5000
_UNREAD_EVERY = 10
_BELL = [
    {"read": False, "archived": False, "snoozed": False, "severity": one} for one in ("high", "medium", "low", "none")
]
PATHS = {
    "count": f"/v1/inbox/notifications/count?filters={quote(json.dumps(_BELL, separators=(',', ':')))}",
    "page": "/v1/inbox/notifications?limit=10&archived=false&snoozed=false",
}


async def measure(site: Site, kind: str) -> list[Figure]:
    async with start_clarion(kind, site, NAME) as system, start_http_floor(site, f"{NAME}-{kind}") as floor:
        tokens = {name: await fill_mailbox(system, name, site.scaled(count)) for name, count in MESSAGES.items()}
        figures: list[Figure] = []
        for number in range(_ROUNDS + 1):
            measured = await _measure_round(system, floor, tokens)
            if number:  # The first round fills caches.
                figures += measured
        return figures


async def _measure_round(system: System, floor: System, tokens: Mapping[str, str]) -> list[Figure]:
    count = system.scaled(_COUNT)
    empty = trigger.make_triggers(floor, count).requests
    figures = [Figure(NAME, system.kind, "floor_cpu_ms", await measure_reads(floor, empty, 201), "ms")]
    for name, token in tokens.items():
        for what, path in PATHS.items():
            used = await measure_reads(system, [make_read(path, token)] * count, 200)
            figures.append(Figure(NAME, system.kind, f"{what}_{name}_cpu_ms", used, "ms"))
    return figures


async def fill_mailbox(system: System, person: str, count: int) -> str:
    """Give a person this many messages, copies of one that the API made; return the token of a session."""
    await ensure_workflow(system, trigger.WORKFLOW, [trigger.IN_APP])
    application = (await system.request("GET", "/v1/environments/me"))["identifier"]
    body = {"applicationIdentifier": application, "subscriber": {"subscriberId": person}}
    token: str = (await system.request("POST", "/v1/inbox/session", body))["data"]["token"]
    event = {"name": trigger.WORKFLOW, "to": person, "payload": {"name": "Ann", "seq": 1, "plan": "pro"}}
    await system.request("POST", "/v1/events/trigger", event)
    while not (await system.request("GET", f"/v1/messages?subscriberId={person}"))["data"]:  # noqa: ASYNC110 - another process writes it
        await asyncio.sleep(0.02)
    async with open_writer(system) as store:
        first = await store.find(
            "SELECT * FROM messages WHERE subscriber_id = (SELECT id FROM subscribers WHERE key = {})", person
        )
        for start in range(1, count, _BATCH):
            rows = []
            for number in range(start, min(start + _BATCH, count)):
                message_id, is_read = store.make_id(), number % _UNREAD_EVERY > 0
                state = {"seen": is_read, "read": is_read}
                rows.append(first | state | {"id": message_id, "position": message_id, "job_id": store.make_id()})
            await store.insert("messages", rows)
    return token


async def measure_reads(system: System, requests: Sequence[bytes], status: int) -> float:
    """Return the CPU time of a request in milliseconds."""
    before = cpu_seconds(system.groups)
    load = await send_closed(system.address, requests, connections=_CONNECTIONS)
    used = cpu_between(before, cpu_seconds(system.groups))
    load.require(status)
    return sum(used.values()) * 1000 / len(requests)


def make_read(path: str, token: str) -> bytes:
    """A request of the person whose session has this token."""
    return make_request("GET", path, headers={"Authorization": f"Bearer {token}"})
