"""Two accounts at e-mail providers on the loopback interface that fail when they are told to."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.engine.support import World, step
from tests.providers.loopback import WebServer, answering, web_server

EMAIL = step("email", subject="Hi", body="<p>{{payload.n}}</p>")
SENDER = "sender@example.com"
ADA = {"subscriberId": "ada", "email": "ada@example.com"}


_MESSAGE_ID = re.compile(rb'(?:"id":"|clarion_message_id"\r\n\r\n)([0-9a-f-]+)')
SILENCE = 0
"""Instead of a status: connections are accepted and requests read, and nothing is ever answered."""


@dataclass
class Account:
    """An integration and the server behind it, which answers with a status; None hangs up without an answer."""

    server: WebServer = field(init=False)
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

    @property
    def recipients(self) -> set[str]:
        """Whom the messages that it took are for."""
        taken = set(self.taken)
        ours = [one for one in self.server.requests if _message_id(one) in taken]
        return {found.decode() for one in ours for found in re.findall(rb"[a-z0-9]+@example\.com", one)} - {SENDER}

    def break_down(self, status: int | None = 503, **headers: str) -> None:
        self.status, self.headers = status, headers

    def come_back(self) -> None:
        self.status, self.headers = 200, {}

    async def respond(self, request: bytes, writer: asyncio.StreamWriter) -> None:
        if self.refused is not None and self.refused in request:
            await answering(503)(request, writer)
            return
        if self.status in (200, None):
            self.taken.append(_message_id(request))
        if self.status is None:
            writer.close()
        elif self.status != SILENCE:
            body = '{"id":"<1@mg>"}' if self.status == 200 else "ok"
            await answering(self.status, body, **self.headers)(request, writer)


def _message_id(request: bytes) -> str:
    found = _MESSAGE_ID.search(request)
    assert found is not None
    return found[1].decode()


@asynccontextmanager
async def account(
    world: World, identifier: str, provider: str = "email-webhook", **fields: Any
) -> AsyncIterator[Account]:
    """An active integration of e-mail with a server of its own; the first is the primary.

    The provider is `email-webhook`, which recognises a second try, or `mailgun`, which does not.
    """
    one = Account()

    async with web_server(one.respond) as one.server:
        body = {"providerId": provider, "channel": "email", "active": True, "identifier": identifier}
        credentials = {"from": SENDER, **_CREDENTIALS[provider](one.server)}
        response = await world.api.post("/v1/integrations", json=body | {"credentials": credentials, **fields})
        assert response.status_code == 201, response.text
        one.integration = response.json()
        yield one


_CREDENTIALS: dict[str, Callable[[WebServer], dict[str, str]]] = {
    "email-webhook": lambda server: {"webhookUrl": server.url("/q7x"), "secretKey": "s"},
    "mailgun": lambda server: {"baseUrl": server.url(""), "apiKey": "s", "user": "api", "domain": "example.com"},
}


async def trigger_many(world: World, count: int, *, start: int = 0) -> None:
    people = [{"subscriberId": f"p{n}", "email": f"p{n}@example.com"} for n in range(start, start + count)]
    for first in range(0, count, 100):
        await world.trigger(people[first : first + 100])
