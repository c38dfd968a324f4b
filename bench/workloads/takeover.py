"""An API process with a thousand sockets is killed: how long until another serves all of them, and what they miss."""

import asyncio
import json
import os
import random
import signal
import time
from collections.abc import Sequence

from bench.client import make_request, send_one
from bench.content import ensure_people, ensure_workflow
from bench.figures import Figure
from bench.socket_clients import PLAIN, SOCKET_IO, SocketClient, close_sockets, open_socket, open_sockets
from bench.systems import POSTGRES, Site, System, start_api, start_clarion
from bench.workloads import trigger
from bench.workloads.sockets import Arrivals, list_tokens

NAME = "takeover"
KINDS = (PLAIN, SOCKET_IO)

_SOCKETS = 1000
_MAX_PAUSE_SECONDS = 10
_BEFORE, _AFTER = 1, 2
"""The numbers of the broadcasts that begin before the kill and when all are connected again."""


def workload_name(kind: str) -> str:
    return f"{NAME}, {kind}"


async def measure(site: Site, kind: str) -> list[Figure]:
    figures = []
    for protocol in KINDS:
        store = f"takeover_{protocol.replace('.', '_')}"
        async with start_clarion(kind, site, store) as killed, start_api(site, store) as other:
            await ensure_workflow(killed, trigger.WORKFLOW, [trigger.IN_APP])
            await ensure_people(killed, site.scaled(_SOCKETS))
            figures += await _measure(killed, other, protocol)
    return figures


async def _measure(killed: System, other: System, kind: str) -> list[Figure]:
    count, arrivals = killed.scaled(_SOCKETS), Arrivals()
    tokens = await list_tokens(killed, count)
    lost = await open_sockets(killed.address, kind, tokens, arrivals.add)
    await _broadcast(other, _BEFORE)
    os.kill(killed.groups["api"][0], signal.SIGKILL)
    began = time.monotonic()
    clients = await asyncio.gather(*(_connect_again(other.address, kind, token, arrivals) for token in tokens))
    seconds = time.monotonic() - began
    await _broadcast(other, _AFTER)
    await arrivals.wait_for({_AFTER: count})
    incomplete = await _count_incomplete(other, tokens)
    close_sockets([*lost, *clients])
    return [
        Figure(workload_name(kind), POSTGRES, "seconds", seconds, "s"),
        Figure(workload_name(kind), POSTGRES, "incomplete_lists", incomplete, ""),
    ]


async def _broadcast(system: System, number: int) -> None:
    event = {"name": trigger.WORKFLOW, "payload": {"name": "Ann", "seq": number, "plan": "pro"}}
    await system.request("POST", "/v1/events/trigger/broadcast", event)


async def _connect_again(address: str, kind: str, token: str, arrivals: Arrivals) -> SocketClient:
    """Connect as the published clients do: after one to two seconds, and then at growing intervals."""
    pause = 1 + random.random()
    while True:
        await asyncio.sleep(pause)
        try:
            return await open_socket(address, kind, token, arrivals.add)
        except OSError:
            pause = min(2 * pause, _MAX_PAUSE_SECONDS)


async def _count_incomplete(system: System, tokens: Sequence[str]) -> int:
    """Count the people whose list does not have exactly the two broadcasts."""
    found = 0
    for token in tokens:
        headers = {"Authorization": f"Bearer {token}"}
        answer = await send_one(system.address, make_request("GET", "/v1/inbox/notifications", headers=headers))
        found += len(json.loads(answer.body)["data"]) != _AFTER
    return found
