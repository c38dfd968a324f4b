"""A running Clarion for browser tests, with workflows and people."""

import asyncio
import itertools
from collections.abc import Sequence
from typing import Any

import httpx

from tests.processes import Process

_numbers = itertools.count(1)

WORKFLOWS: tuple[dict[str, Any], ...] = (
    {"workflowId": "note", "name": "Note", "tags": ["note"]},
    {"workflowId": "mention", "name": "Mention", "tags": ["mention"]},
    {
        "workflowId": "alert",
        "name": "Security alert",
        "severity": "high",
        "preferences": {"workflow": {"all": {"enabled": True, "readOnly": True}}},
    },
    {
        "workflowId": "invitation",
        "name": "Invitation",
        "controls": {
            "primaryAction": {"label": "Accept", "redirect": {"url": "/accepted", "target": "_self"}},
            "secondaryAction": {"label": "Decline"},
        },
    },
    {
        "workflowId": "link",
        "name": "Link",
        "controls": {"redirect": {"url": "{{payload.url}}", "target": "_self"}},
    },
)


class Service:
    """A process of Clarion, and what tests do with it over its API."""

    def __init__(self, process: Process, options: Sequence[str] = ()) -> None:
        """`options` name the store, for other commands on it."""
        self.process = process
        self.options = list(options)
        self.address = process.address
        self.key = process.keys["Development"]
        self.application = ""

    def api(self) -> httpx.AsyncClient:
        headers = {"Authorization": f"ApiKey {self.key}"}
        return httpx.AsyncClient(base_url=self.address, headers=headers, timeout=30)

    async def prepare(self) -> None:
        """Create the workflows; an email step makes preferences show two channels."""
        async with self.api() as api:
            self.application = (await api.get("/v1/environments/me")).json()["identifier"]
            await _check(
                api.post("/v1/integrations", json={"providerId": "svc-email", "channel": "email", "active": True})
            )
            for workflow in WORKFLOWS:
                await _check(api.post("/v2/workflows", json=_definition(**workflow)))

    def new_person(self) -> str:
        return f"person-{next(_numbers)}"

    async def notify(self, person: str, workflow: str = "note", **payload: Any) -> None:
        """Trigger a workflow, and wait until its message is in the inbox."""
        await self.notify_many(person, [{"text": "Hello", **payload}], workflow=workflow)

    async def notify_many(self, person: str, payloads: list[dict[str, Any]], workflow: str = "note") -> None:
        before = len(await self.list_ids(person))
        async with self.api() as api:
            for start in range(0, len(payloads), 100):
                events = [
                    {"name": workflow, "to": person, "payload": {"title": "Note", **payload}}
                    for payload in payloads[start : start + 100]
                ]
                await _check(api.post("/v1/events/trigger/bulk", json={"events": events}))
        async with asyncio.timeout(60):
            while len(await self.list_ids(person)) < before + len(payloads):  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.02)

    async def list_ids(self, person: str) -> list[str]:
        """All in-app messages of the person, whatever their state."""
        found: list[str] = []
        async with self.api() as api:
            for page in itertools.count():
                answer = await api.get(
                    "/v1/messages",
                    params={"subscriberId": person, "channel": "in_app", "page": str(page), "limit": "100"},
                )
                body = answer.json()
                found += [one["_id"] for one in body["data"]]
                if not body["hasMore"]:
                    return found
        return found

    async def state_of(self, person: str, **query: str) -> list[dict[str, Any]]:
        """The notifications of the person as the API for servers shows them."""
        async with self.api() as api:
            answer = await api.get(f"/v2/subscribers/{person}/notifications", params=query)
            found: list[dict[str, Any]] = answer.json()["data"]
        return found

    async def preferences_of(self, person: str) -> dict[str, Any]:
        async with self.api() as api:
            found: dict[str, Any] = (await api.get(f"/v2/subscribers/{person}/preferences")).json()
        return found


def _definition(*, controls: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    content = {"subject": "**{{payload.title}}**", "body": "{{payload.text}}", **(controls or {})}
    return {
        **fields,
        "active": True,
        "steps": [
            {"name": "Inbox", "type": "in_app", "controlValues": content},
            {"name": "Mail", "type": "email", "controlValues": {"subject": "{{payload.title}}", "body": "<p>Hi</p>"}},
        ],
    }


async def _check(request: Any) -> None:
    answer = await request
    assert answer.is_success, answer.text
