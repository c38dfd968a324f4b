"""What an open inbox costs: the counts of its bell and a page of its list, for people with few and with many messages.

The floor is a POST without work on the same HTTP stack, measured in the same rounds.
"""

import json
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from urllib.parse import quote

from bench.client import make_request, send_closed
from bench.content import ensure_workflow
from bench.figures import Figure
from bench.systems import CLARION, SQLITE, Site, System, clarion_on_postgres, clarion_on_sqlite, http_floor
from bench.usage import cpu_between, cpu_seconds
from bench.workloads import trigger
from bench.writers import open_writer

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
_PATHS = {
    "count": f"/v1/inbox/notifications/count?filters={quote(json.dumps(_BELL, separators=(',', ':')))}",
    "page": "/v1/inbox/notifications?limit=10&archived=false&snoozed=false",
}


async def measure(site: Site) -> list[Figure]:
    figures: list[Figure] = []
    for kind in CLARION:
        async with _start(kind, site) as system, http_floor(site.folder / f"mailbox-floor-{kind}") as floor:
            tokens = {name: await _fill(system, name, count) for name, count in MESSAGES.items()}
            triggers = trigger.make_triggers(floor, _COUNT).requests
            for number in range(_ROUNDS + 1):
                measured = [Figure(NAME, kind, "floor_cpu_ms", await _measure(floor, triggers, 201), "ms")]
                for name, token in tokens.items():
                    for what, path in _PATHS.items():
                        requests = [make_request("GET", path, headers=_authorization(token))] * _COUNT
                        used = await _measure(system, requests, 200)
                        measured.append(Figure(NAME, kind, f"{what}_{name}_cpu_ms", used, "ms"))
                if number:  # The first round fills caches.
                    figures += measured
    return figures


def _start(kind: str, site: Site) -> AbstractAsyncContextManager[System]:
    if kind == SQLITE:
        return clarion_on_sqlite(site.folder / "mailbox-sqlite")
    return clarion_on_postgres(site.folder / "mailbox", site.server, database="mailbox")


async def _fill(system: System, person: str, count: int) -> str:
    """Give a person so many messages, copies of one that the API made; returns the token of a session."""
    await ensure_workflow(system, trigger.WORKFLOW, [trigger.IN_APP])
    application = (await system.request("GET", "/v1/environments/me"))["identifier"]
    body = {"applicationIdentifier": application, "subscriber": {"subscriberId": person}}
    token: str = (await system.request("POST", "/v1/inbox/session", body))["data"]["token"]
    event = {"name": trigger.WORKFLOW, "to": person, "payload": {"name": "Ann", "seq": 1, "plan": "pro"}}
    await system.request("POST", "/v1/events/trigger", event)
    while not (await system.request("GET", f"/v1/messages?subscriberId={person}"))["data"]:
        pass
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


async def _measure(system: System, requests: Sequence[bytes], status: int) -> float:
    """Return the CPU time of a request in milliseconds."""
    before = cpu_seconds(system.groups)
    load = await send_closed(system.address, requests, connections=_CONNECTIONS)
    used = cpu_between(before, cpu_seconds(system.groups))
    load.require(status)
    return sum(used.values()) * 1000 / len(requests)


def _authorization(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
