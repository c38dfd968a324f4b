"""A server on the loopback interface that HTTP steps call."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.engine.support import World
from tests.providers.loopback import Respond, WebServer, answering, web_server

FETCH = "fetch"


@dataclass
class Request:
    """A request as the server got it."""

    method: str
    path: str
    headers: dict[str, str]
    body: str

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Server:
    """Answers with one response after the other; the last one is for all that follow."""

    web: WebServer
    answers: list[Respond] = field(default_factory=list)

    @property
    def requests(self) -> list[Request]:
        return [_read(one) for one in self.web.requests]

    def url(self, path: str = "/people/ada") -> str:
        return self.web.url(path)

    def answer(self, *answers: Respond) -> None:
        self.answers[:] = answers

    async def respond(self, request: bytes, writer: asyncio.StreamWriter) -> None:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        await answer(request, writer)


def _read(request: bytes) -> Request:
    head, _, body = request.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    method, path, _ = first.split(" ")
    headers = dict(line.split(": ", 1) for line in lines)
    return Request(method, path, {name.lower(): value for name, value in headers.items()}, body.decode())


@asynccontextmanager
async def serving(*answers: Respond) -> AsyncIterator[Server]:
    server = Server(WebServer(answering(200)))
    server.answer(*(answers or (answering(200, '{"plan": "pro"}', Content_Type="application/json"),)))
    async with web_server(server.respond) as server.web:
        yield server


async def silent(request: bytes, writer: asyncio.StreamWriter) -> None:
    """Answer nothing, for longer than any step waits."""
    await asyncio.sleep(60)


def fetch(server: Server | str, **controls: Any) -> dict[str, Any]:
    """An HTTP step, which asks for a person."""
    url = server if isinstance(server, str) else server.url()
    values = {"method": "GET", "url": url, **controls}
    return {"name": "Fetch", "stepId": FETCH, "type": "http_request", "controlValues": values}


async def make_variable(world: World, key: str, value: str, *, is_secret: bool = True) -> None:
    me = (await world.api.get("/v1/environments/me")).json()
    body = {"key": key, "isSecret": is_secret, "values": [{"_environmentId": me["_id"], "value": value}]}
    response = await world.api.post("/v1/environment-variables", json=body)
    assert response.status_code == 200, response.text


async def jobs_of(world: World) -> list[dict[str, Any]]:
    """The jobs of the only run."""
    (event,) = await world.events()
    jobs: list[dict[str, Any]] = event["jobs"]
    return jobs


async def last_raw(world: World, place: int = 0) -> dict[str, Any]:
    """What the last execution detail of a job tells."""
    detail = (await jobs_of(world))[place]["executionDetails"][-1]
    raw = detail["raw"]
    found: dict[str, Any] = json.loads(raw) if isinstance(raw, str) else raw
    return found
