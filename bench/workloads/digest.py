"""Many events that a digest merges into one message for each subscriber."""

import asyncio
import itertools
import time

from bench.client import make_request, send_closed
from bench.content import ensure_people, ensure_workflow
from bench.figures import Figure
from bench.stores import Store, open_store
from bench.systems import System
from bench.usage import cpu_between, cpu_seconds

NAME = "digest"
_WORKFLOW = "bench-digest"
_EVENTS = 10_000
_PEOPLE = 500
_WINDOW_SECONDS = 10
_EVENTS_A_CALL = 100
_CONNECTIONS = 8
_TIMEOUT_SECONDS = 90

_STEPS = [
    {
        "name": "Digest",
        "type": "digest",
        "controlValues": {"type": "regular", "amount": _WINDOW_SECONDS, "unit": "seconds"},
    },
    {"name": "Inbox", "type": "in_app", "controlValues": {"body": "{{steps.digest.eventCount}}"}},
]


async def prepare(system: System) -> None:
    await ensure_workflow(system, _WORKFLOW, _STEPS)
    await ensure_people(system, _PEOPLE)


async def measure(system: System) -> list[Figure]:
    """Measure CPU time of an event, including its share of the message; every event must be in exactly one message."""
    requests = [_make_call(system, first) for first in range(0, _EVENTS, _EVENTS_A_CALL)]
    async with open_store(system) as store:
        before = cpu_seconds(system.groups)
        load = await send_closed(system.address, requests, connections=_CONNECTIONS)
        load.require(201)
        messages = await _wait_for_events(store)
        used = cpu_between(before, cpu_seconds(system.groups))
    return [
        Figure(NAME, system.kind, "cpu_ms", sum(used.values()) * 1000 / _EVENTS, "ms"),
        Figure(NAME, system.kind, "messages_a_person", messages / _PEOPLE, ""),
    ]


def _make_call(system: System, first: int) -> bytes:
    events = [
        {"name": _WORKFLOW, "to": f"person-{number % _PEOPLE}", "payload": {"seq": number}}
        for number in itertools.islice(itertools.count(first), _EVENTS_A_CALL)
    ]
    return make_request("POST", "/v1/events/trigger/bulk", key=system.key, body={"events": events})


async def _wait_for_events(store: Store) -> int:
    """Wait until all events are in messages and return the number of messages; a message's text is its event count."""
    events = messages = 0
    until = time.monotonic() + _TIMEOUT_SECONDS
    while events < _EVENTS and time.monotonic() < until:
        found = await store.read_new()
        events, messages = events + sum(map(int, found)), messages + len(found)
        await asyncio.sleep(0.1)
    if events != _EVENTS:
        raise RuntimeError(f"{events} of {_EVENTS} events are in messages")
    return messages
