"""Workflows, subscribers and topics that the workloads need; each is created if it does not exist yet."""

from collections.abc import Iterator, Sequence
from typing import Any

from bench.client import make_request, send_closed
from bench.systems import System

_BULK_PEOPLE = 100
_BULK_MEMBERS = 100
_CONNECTIONS = 8


async def ensure_workflow(system: System, key: str, steps: Sequence[dict[str, Any]]) -> None:
    listed = await system.request("GET", f"/v2/workflows?query={key}&limit=100")
    if not any(one["workflowId"] == key for one in listed["workflows"]):
        body = {"name": key, "workflowId": key, "active": True, "steps": list(steps)}
        await system.request("POST", "/v2/workflows", body)


async def ensure_inbox(system: System) -> None:
    """Create the in-app integration, which environments written by the bench do not have."""
    listed = await system.request("GET", "/v1/integrations")
    if not any(one["channel"] == "in_app" for one in listed):
        body = {"providerId": "svc", "channel": "in_app", "active": True}
        await system.request("POST", "/v1/integrations", body)


async def ensure_people(system: System, count: int) -> list[str]:
    """Create `count` subscribers and return their keys."""
    keys = [f"person-{number}" for number in range(count)]
    bodies = [{"subscribers": [_person(key) for key in batch]} for batch in _batches(keys, _BULK_PEOPLE)]
    await _post_all(system, "/v1/subscribers/bulk", bodies)
    return keys


async def ensure_topic(system: System, topic: str, keys: Sequence[str]) -> None:
    """Create a topic with the given subscribers."""
    path = f"/v2/topics/{topic}/subscriptions"
    await _post_all(system, path, [{"subscriberIds": list(batch)} for batch in _batches(keys, _BULK_MEMBERS)])


async def ensure_preferences(system: System, workflow: str, keys: Sequence[str]) -> None:
    """Set global and workflow preferences of the subscribers that allow in-app messages."""
    requests = []
    for key in keys:
        path = f"/v2/subscribers/{key}/preferences"
        everywhere = {"channels": {"in_app": True, "email": False}}
        here = {"channels": {"in_app": True}, "workflowId": workflow}
        requests += [make_request("PATCH", path, key=system.key, body=body) for body in (everywhere, here)]
    load = await send_closed(system.address, requests, connections=_CONNECTIONS)
    load.require(200)


def _person(key: str) -> dict[str, Any]:
    return {"subscriberId": key, "firstName": "Ada", "lastName": "Lovelace", "email": f"{key}@example.com"}


async def _post_all(system: System, path: str, bodies: Sequence[Any]) -> None:
    requests = [make_request("POST", path, key=system.key, body=body) for body in bodies]
    load = await send_closed(system.address, requests, connections=_CONNECTIONS)
    load.require(200, 201)


def _batches(items: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
