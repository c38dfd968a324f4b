"""Messages through providers that take 50 ms each: e-mail over SMTP, and chat over a webhook."""

import asyncio
import functools
import itertools
import time
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from bench.client import make_request, send_closed
from bench.content import ensure_topic, ensure_workflow
from bench.figures import Figure
from bench.processes import cpu_between, cpu_seconds
from bench.receivers import Ports, read_counts, run_receivers
from bench.systems import System
from tests.servers import free_port

_PEOPLE = 3_000
_TOPIC = "bench-external"
_BULK = 100
_CONNECTIONS = 8
_TIMEOUT_SECONDS = 60
_SETTLE_SECONDS = 0.5
"""The last results are recorded within this time."""

_MAIL = {
    "name": "Mail",
    "type": "email",
    "controlValues": {
        "subject": "Order {{payload.number}}",
        "body": "<h1>Hello {{subscriber.firstName}}</h1><p>Your order <b>{{payload.number}}</b> is on its way.</p>",
    },
}
_CHAT = {
    "name": "Chat",
    "type": "chat",
    "controlValues": {"body": "Order {{payload.number}} of {{subscriber.subscriberId}} is on its way"},
}

_numbers = itertools.count(1)


class _Kind(Struct, frozen=True, kw_only=True):
    workload: str
    workflow: str
    step: dict[str, Any]
    mails: int = 0
    """For each subscriber."""
    chats: int = 0


_KINDS = (
    _Kind(workload="external mail", workflow="bench-external-mail", step=_MAIL, mails=1),
    _Kind(workload="external chat", workflow="bench-external-chat", step=_CHAT, chats=1),
)


async def prepare(system: System) -> None:
    """Create integrations for the receivers, subscribers with an address at both, their topic, and the workflows."""
    ports = _ports()
    mail = {"host": "127.0.0.1", "port": str(ports.mail), "from": "bench@example.com", "senderName": "Bench"}
    await integrate(system, "nodemailer", "email", mail)
    await integrate(system, "slack", "chat", {"applicationId": "a", "clientId": "c", "secretKey": "s"})
    keys = [f"external-{number}" for number in range(system.scaled(_PEOPLE))]
    await send_all(system, "POST", [("/v1/subscribers/bulk", {"subscribers": group}) for group in _people(keys)])
    hook = {"providerId": "slack", "credentials": {"webhookUrl": f"{ports.web_address}/services/T0/B0/bench"}}
    await send_all(system, "PUT", [(f"/v1/subscribers/{key}/credentials", hook) for key in keys])
    await ensure_topic(system, _TOPIC, keys)
    for kind in _KINDS:
        await ensure_workflow(system, kind.workflow, [kind.step])


async def measure(system: System) -> list[Figure]:
    """Measure CPU time and rate of a sent message; count missing and duplicate messages."""
    figures: list[Figure] = []
    for kind in _KINDS:
        async with run_receivers(_ports()):
            figures += await _measure(system, kind)
    return figures


async def _measure(system: System, kind: _Kind) -> list[Figure]:
    number = next(_numbers)
    body = {
        "name": kind.workflow,
        "to": {"type": "Topic", "topicKey": _TOPIC},
        "payload": {"number": f"{number}-{time.time_ns()}"},
    }
    request = make_request("POST", "/v1/events/trigger", key=system.key, body=body)
    people = system.scaled(_PEOPLE)
    due = {"mails": kind.mails * people, "chats": kind.chats * people}
    before = cpu_seconds(system.groups)
    load = await send_closed(system.address, [request])
    load.require(201)
    ended, counts = await wait_for_arrivals(_ports(), due)
    await asyncio.sleep(_SETTLE_SECONDS)
    used = cpu_between(before, cpu_seconds(system.groups))
    count = sum(due.values())
    make = functools.partial(Figure, kind.workload, system.kind)
    return [
        make("cpu_ms", sum(used.values()) * 1000 / count, "ms"),
        *(make(f"cpu_ms_{part}", seconds * 1000 / count, "ms") for part, seconds in used.items() if len(used) > 1),
        make("per_second", count / (ended - load.began), "1/s"),
        make("missing", sum(due[name] - counts[name] for name in due), ""),
        make("duplicates", counts["mail_duplicates"] + counts["chat_duplicates"], ""),
    ]


async def wait_for_arrivals(ports: Ports, due: dict[str, int]) -> tuple[float, dict[str, int]]:
    """Wait for all messages, at most a minute; return the time and the counts."""
    until = time.monotonic() + _TIMEOUT_SECONDS
    while True:
        counts = await read_counts(ports)
        if all(counts[name] >= due[name] for name in due) or time.monotonic() > until:
            return time.time(), counts
        await asyncio.sleep(0.05)


@functools.cache
def _ports() -> Ports:
    return Ports(mail=free_port(), web=free_port())


async def integrate(system: System, provider: str, channel: str, credentials: dict[str, Any]) -> None:
    """Create or update the integration of the provider with these credentials."""
    listed = await system.request("GET", "/v1/integrations")
    found = next((one for one in listed if one["providerId"] == provider), None)
    if found is None:
        body = {"providerId": provider, "channel": channel, "active": True, "credentials": credentials}
        await system.request("POST", "/v1/integrations", body)
    else:
        await system.request("PUT", f"/v1/integrations/{found['_id']}", {"credentials": credentials})


def _people(keys: Sequence[str]) -> list[list[dict[str, str]]]:
    people = [{"subscriberId": key, "firstName": "Ada", "email": f"{key}@example.com"} for key in keys]
    return [people[start : start + _BULK] for start in range(0, len(people), _BULK)]


async def send_all(system: System, method: str, calls: Sequence[tuple[str, Any]]) -> None:
    requests = [make_request(method, path, key=system.key, body=body) for path, body in calls]
    load = await send_closed(system.address, requests, connections=_CONNECTIONS)
    load.require(200, 201)
