"""Receivers of webhooks on the loopback interface, and a verifier that is independent of the code under test."""

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.providers.sending.gateway import ProviderGateway
from clarion.vault import Vault
from clarion.webhooks.events import append_events
from clarion.webhooks.model import EventType
from clarion.webhooks.sender import WebhookSender
from tests.providers.loopback import answering, web_server
from tests.support import Api

Answer = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Received:
    """One request as the receiver saw it."""

    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def event(self) -> dict[str, Any]:
        decoded: dict[str, Any] = json.loads(self.body)
        return decoded

    @property
    def type(self) -> str:
        kind: str = self.event["type"]
        return kind

    def is_signed_with(self, secret: str) -> bool:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        signed = f"{self.id}.{self.headers['webhook-timestamp']}.".encode() + self.body
        expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        return expected in self.headers["webhook-signature"].split()


@dataclass
class Receiver:
    """Records requests, and responds as configured."""

    answer: Answer = field(default_factory=lambda: answering(204, ""))
    received: list[Received] = field(default_factory=list)
    url: str = ""
    _arrived: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def types(self) -> list[str]:
        return [one.type for one in self.received]

    async def wait_for(self, count: int) -> None:
        """Wait until this many requests have arrived."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.received) >= count)

    async def respond(self, request: bytes, writer: asyncio.StreamWriter) -> None:
        head, _, body = request.partition(b"\r\n\r\n")
        lines = [line.partition(": ") for line in head.decode().split("\r\n")[1:]]
        async with self._arrived:
            self.received.append(Received({name.lower(): value for name, _, value in lines}, body))
            self._arrived.notify_all()
        await self.answer(request, writer)


@asynccontextmanager
async def receiver(answer: Answer | None = None) -> AsyncIterator[Receiver]:
    made = Receiver() if answer is None else Receiver(answer)
    async with web_server(made.respond) as server:
        made.url = server.url("/hook")
        yield made


@dataclass(frozen=True)
class Post:
    """An environment whose events are delivered on demand, with a manual clock."""

    api: Api
    database: Database
    webhooks: WebhookSender
    clock: ManualClock

    async def happen(self, count: int = 1) -> None:
        """Append events of created workflows."""
        events = [(EventType.WORKFLOW_CREATED, {"number": number}) for number in range(count)]
        environment_id, now = self.api.environment.id, self.clock.now()
        await self.database.transaction(lambda db: append_events(db, environment_id, events, now))

    async def work(self, *, after: int = 0) -> None:
        """Let time pass, then deliver everything that is due."""
        self.clock.move(after)
        while await self.webhooks.work():
            pass

    def with_worker(self, vault: Vault, gateway: ProviderGateway) -> "Post":
        """Return the same environment with another worker."""
        webhooks = WebhookSender(self.database, clock=self.clock, vault=vault, gateway=gateway)
        return replace(self, webhooks=webhooks)


async def make_endpoint(api: Api, url: str, *event_types: str, **fields: Any) -> dict[str, Any]:
    body = {"url": url, "eventTypes": list(event_types), **fields}
    response = await api.post("/v1/webhooks/endpoints", json=body)
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


async def get_endpoint(api: Api, endpoint: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = (await api.get(f"/v1/webhooks/endpoints/{endpoint['_id']}")).json()
    return found


async def list_deliveries(api: Api, endpoint: dict[str, Any], **query: Any) -> list[dict[str, Any]]:
    """List the deliveries, oldest first."""
    path = f"/v1/webhooks/endpoints/{endpoint['_id']}/deliveries"
    response = await api.get(path, params={"limit": 100, "orderDirection": "ASC", **query})
    assert response.status_code == 200, response.text
    data: list[dict[str, Any]] = response.json()["data"]
    return data
