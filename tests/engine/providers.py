"""Two accounts at e-mail providers on the loopback interface that fail when they are told to."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.engine.support import World, step
from tests.providers.loopback import WebServer, answering, web_server

EMAIL = step("email", subject="Hi", body="<p>{{payload.n}}</p>")
ADA = {"subscriberId": "ada", "email": "ada@example.com"}


@dataclass
class Account:
    """An integration and the server behind it, which answers with a status; None hangs up without an answer."""

    server: WebServer = field(default_factory=WebServer)
    integration: dict[str, Any] = field(default_factory=dict)
    taken: list[str] = field(default_factory=list)
    """The ids of messages that it took, whether it said so or not."""
    status: int | None = 200
    headers: dict[str, str] = field(default_factory=dict)
    refused: bytes | None = None
    """Requests with these bytes are answered with 503, whatever the status."""

    @property
    def count(self) -> int:
        return len(self.server.requests)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(one.partition(b"\r\n\r\n")[2]) for one in self.server.requests]

    def break_down(self, status: int | None = 503, **headers: str) -> None:
        self.status, self.headers = status, headers

    def come_back(self) -> None:
        self.status, self.headers = 200, {}

    async def respond(self, request: bytes, writer: asyncio.StreamWriter) -> None:
        if self.refused is not None and self.refused in request:
            await answering(503)(request, writer)
            return
        if self.status in (200, None):
            self.taken.append(json.loads(request.partition(b"\r\n\r\n")[2])["id"])
        if self.status is None:
            writer.close()
        else:
            await answering(self.status, **self.headers)(request, writer)


@asynccontextmanager
async def account(world: World, identifier: str, **fields: Any) -> AsyncIterator[Account]:
    """An active integration of e-mail with a server of its own; the first is the primary."""
    one = Account()

    async with web_server(one.respond) as one.server:
        credentials = {"webhookUrl": one.server.url("/q7x"), "secretKey": "s", "from": "a@example.com"}
        body = {"providerId": "email-webhook", "channel": "email", "active": True, "identifier": identifier}
        response = await world.api.post("/v1/integrations", json=body | {"credentials": credentials, **fields})
        assert response.status_code == 201, response.text
        one.integration = response.json()
        yield one


async def trigger_many(world: World, count: int, *, start: int = 0) -> None:
    people = [{"subscriberId": f"p{n}", "email": f"p{n}@example.com"} for n in range(start, start + count)]
    for first in range(0, count, 100):
        await world.trigger(people[first : first + 100])
