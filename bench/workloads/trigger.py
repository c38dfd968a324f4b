"""In-app triggers, one in each request, over many connections: the hot path from POST to committed message.

They are realistic, with idempotency key, condition, preferences, Liquid and the full log.
"""

import asyncio
import itertools

from msgspec import Struct

from bench.client import Load, make_request, send_closed
from bench.content import ensure_people, ensure_preferences, ensure_workflow
from bench.figures import Figure, percentile
from bench.processes import cpu_between, cpu_seconds
from bench.stores import Arrival, Store, open_store, wait_for_messages
from bench.systems import BASELINE, FLOOR_HTTP, System

NAME = "trigger"
WORKFLOW = "bench-trigger"
PEOPLE = 200
CONNECTIONS = 128

_COUNT = 6000
# The baseline does about a hundred a second on two cores; its CPU time for each does not depend on how many there are.
_BASELINE_COUNT = 600
_BASELINE_CONNECTIONS = 16
_PATH = "/v1/events/trigger"

IN_APP = {
    "name": "Inbox",
    "type": "in_app",
    "controlValues": {
        "subject": "Order of {{subscriber.firstName}}",
        "body": "Hello {{payload.name}}, order {{payload.seq}}",
        "skip": {"==": [{"var": "payload.plan"}, "pro"]},
    },
}
_numbers = itertools.count(1)


async def prepare(system: System) -> None:
    if system.kind == BASELINE:
        await run_burst(system, 50)
        return
    await ensure_workflow(system, WORKFLOW, [IN_APP])
    keys = await ensure_people(system, PEOPLE)
    await ensure_preferences(system, WORKFLOW, keys)
    await run_burst(system, 500)


async def measure(system: System) -> list[Figure]:
    count = system.scaled(_BASELINE_COUNT if system.kind == BASELINE else _COUNT)
    size = await _size_of_store(system)
    before = cpu_seconds(system.groups)
    load, arrivals = await run_burst(system, count)
    used = cpu_between(before, cpu_seconds(system.groups))
    grown = await _size_of_store(system) - size

    def figure(name: str, value: float, unit: str) -> Figure:
        return Figure(NAME, system.kind, name, value, unit)

    return [
        figure("cpu_ms", sum(used.values()) * 1000 / count, "ms"),
        *(figure(f"cpu_{part}_ms", value * 1000 / count, "ms") for part, value in used.items() if len(used) > 1),
        figure("per_second", count / (arrivals[-1].at - load.began), "1/s"),
        figure("accepted_per_second", load.rate, "1/s"),
        figure("post_p50_ms", percentile(load.seconds, 0.5) * 1000, "ms"),
        figure("post_p99_ms", percentile(load.seconds, 0.99) * 1000, "ms"),
        figure("disk_bytes", grown / count, "B"),
    ]


async def _size_of_store(system: System) -> int:
    async with open_store(system) as store:
        return await store.size_bytes()


async def run_burst(system: System, count: int) -> tuple[Load, list[Arrival]]:
    """Trigger as fast as the connections allow and wait until every message is in the store."""
    requests = make_triggers(system, count).requests
    connections = _BASELINE_CONNECTIONS if system.kind == BASELINE else CONNECTIONS
    pause = 0.1 if system.kind == BASELINE else 0.02
    async with open_store(system) as store:
        load, arrivals = await asyncio.gather(
            send_closed(system.address, requests, connections=connections),
            wait_for_messages(store, count, pause=pause),
        )
        load.require(201)
        await _require_no_extra_message(store)
    return load, arrivals


class Triggers(Struct, frozen=True):
    """New requests, numbered from `first` on."""

    first: int
    requests: list[bytes]


def make_triggers(system: System, count: int) -> Triggers:
    """Make requests with consecutive numbers and different idempotency keys."""
    numbers = list(itertools.islice(_numbers, count))
    return Triggers(numbers[0], [_make_trigger(system, number) for number in numbers])


def read_number(content: str) -> int:
    """Return the number of the trigger of a message: the last word of its text."""
    return int(content.rpartition(" ")[2])


def _make_trigger(system: System, number: int) -> bytes:
    payload = {"name": "Ann", "seq": number, "plan": "pro"}
    if system.kind == BASELINE:
        body = {"name": "bench", "to": f"sub-{number % PEOPLE}", "payload": payload}
        return make_request("POST", _PATH, key=system.key, body=body)
    body = {"name": WORKFLOW, "to": f"person-{number % PEOPLE}", "payload": payload}
    headers = {} if system.kind == FLOOR_HTTP else {"Idempotency-Key": f"order-{number}"}
    return make_request("POST", _PATH, key=system.key, body=body, headers=headers)


async def _require_no_extra_message(store: Store) -> None:
    """Raise if there is a second message for a trigger; it would arrive at once."""
    more = await store.read_new()
    if more:
        raise RuntimeError(f"{len(more)} messages too many")
