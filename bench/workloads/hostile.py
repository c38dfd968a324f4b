"""What a well-behaved environment notices of a hostile one: the latency of its triggers, alone and during attacks.

The hostile environment repeats one request after the other, each as expensive as its limits allow.
"""

import asyncio
from collections.abc import Mapping, Sequence

from bench.client import make_request, send_one, send_open
from bench.content import ensure_inbox, ensure_people, ensure_workflow
from bench.copies import make_tenants
from bench.figures import Figure, percentile
from bench.systems import Site, System, start_clarion
from bench.workloads import trigger

NAME = "hostile neighbour"
ATTACKS = ("nested body", "megabyte of brackets", "slow texts", "large lists", "large payloads")

_RATE = 50.0
_TRIGGERS = 200
_WARM_UP = 50
_PAUSE_SECONDS = 0.05
"""Between two requests of the attacker."""
_LAST_REQUEST_SECONDS = 10
_SLOW_TEXT = (
    "{% for i in (1..900) %}{% if payload.text contains 'never' %}x{% endif %}{{ i | times: i | plus: 1 }}{% endfor %}"
)
_STEPS = [{"name": "Inbox", "type": "in_app", "controlValues": {"body": _SLOW_TEXT}}]
_LARGE = "x" * 200_000
_LARGE_ITEMS = 40


def figure_name(attack: str, situation: str, part: str) -> str:
    return f"{attack} {situation} {part}_ms"


async def measure(site: Site, kind: str) -> list[Figure]:
    figures: list[Figure] = []
    async with start_clarion(kind, site, "hostile") as system:
        (attacker,) = await make_tenants(system, 1)
        await _prepare(system, attacker)
        attacks = _attacks(attacker)
        for requests in attacks.values():
            await _measure_during(system, attacker, requests, count=site.scaled(_WARM_UP))
        for name, requests in attacks.items():
            alone = await _measure_neighbour(system, site.scaled(_TRIGGERS))
            attacked = await _measure_during(system, attacker, requests, count=site.scaled(_TRIGGERS))
            figures += _figures(kind, name, alone, attacked)
    return figures


async def _prepare(system: System, attacker: System) -> None:
    for one in (system, attacker):
        await ensure_inbox(one)
        await ensure_workflow(one, trigger.WORKFLOW, [trigger.IN_APP])
        await ensure_people(one, 100)
    await ensure_workflow(attacker, "slow", _STEPS)
    for _ in range(_LARGE_ITEMS):
        body = {"name": trigger.WORKFLOW, "to": "person-1", "payload": {"text": _LARGE}}
        await attacker.request("POST", "/v1/events/trigger", body)


def _attacks(attacker: System) -> Mapping[str, Sequence[bytes]]:
    """Requests by the name of the attack."""

    def request(method: str, path: str, body: object = None) -> bytes:
        return make_request(method, path, key=attacker.key, body=body)

    slow = {"name": "slow", "to": "person-2", "payload": {"text": _LARGE}}
    requests = (
        [request("POST", "/v1/events/trigger", b"[" * 65 + b'"\\' * 20_000)],
        [request("POST", "/v1/events/trigger", b"[" * 1_000_000)],
        [request("POST", "/v1/events/trigger", slow)],
        [request("GET", "/v1/messages?limit=1000"), request("GET", "/v1/notifications?limit=100")],
        [request("POST", "/v1/events/trigger", slow | {"name": trigger.WORKFLOW})],
    )
    return dict(zip(ATTACKS, requests, strict=True))


async def _measure_during(system: System, attacker: System, requests: Sequence[bytes], *, count: int) -> list[float]:
    is_over = asyncio.Event()

    async def attack() -> None:
        while not is_over.is_set():
            for one in requests:
                await send_one(attacker.address, one)
                await asyncio.sleep(_PAUSE_SECONDS)

    attacking = asyncio.create_task(attack())
    try:
        return await _measure_neighbour(system, count)
    finally:
        is_over.set()
        await asyncio.wait([attacking], timeout=_LAST_REQUEST_SECONDS)
        attacking.cancel()


async def _measure_neighbour(system: System, count: int) -> list[float]:
    """Return how long each trigger of the neighbour took until it was accepted."""
    triggers = trigger.make_triggers(system, count)
    load = await send_open(system.address, triggers.requests, rate=_RATE)
    load.require(201)
    return load.seconds


def _figures(kind: str, attack: str, alone: Sequence[float], attacked: Sequence[float]) -> list[Figure]:
    return [
        Figure(NAME, kind, figure_name(attack, name, part), percentile(seconds, share) * 1000, "ms")
        for name, seconds in (("alone", alone), ("attacked", attacked))
        for part, share in (("p50", 0.5), ("p99", 0.99))
    ]
