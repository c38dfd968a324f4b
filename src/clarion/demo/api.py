"""Calls of the API within this process: the demo is set up and triggered as an application would do it."""

from typing import Any
from urllib.parse import urlsplit

import msgspec
from starlette.types import ASGIApp, Message

from clarion.errors import ClarionError
from clarion.jsontext import encode_json

HOST = "clarion.example.com"


class DemoFailed(ClarionError):
    """The API refused a part of the demo."""


class DemoApi:
    """A caller with an API key."""

    def __init__(self, asgi: ASGIApp, key: str) -> None:
        self._asgi = asgi
        self._authorization = (b"authorization", f"ApiKey {key}".encode())

    async def post(self, path: str, body: Any) -> Any:
        return await self.call("POST", path, encode_json(body))

    async def put(self, path: str, body: Any) -> Any:
        return await self.call("PUT", path, encode_json(body))

    async def patch(self, path: str, body: Any) -> Any:
        return await self.call("PATCH", path, encode_json(body))

    async def get(self, path: str) -> Any:
        return await self.call("GET", path)

    async def delete(self, path: str) -> Any:
        return await self.call("DELETE", path)

    async def call(self, method: str, url: str, content: bytes = b"", *, headers: dict[str, str] | None = None) -> Any:
        """Make a call and decode the answer; raises DemoFailed if it is an error."""
        parts = urlsplit(url)
        more = {"host": HOST, "content-type": "application/json", **(headers or {})}
        scope = {
            "type": "http",
            "method": method,
            "path": parts.path,
            "raw_path": parts.path.encode(),
            "query_string": parts.query.encode(),
            "headers": [self._authorization, *((name.encode(), value.encode()) for name, value in more.items())],
        }
        status, answer = await self._run(scope, content)
        if status >= 400:
            raise DemoFailed(f"{method} {parts.path} was answered with {status}: {answer.decode()}")
        return msgspec.json.decode(answer) if answer else None

    async def _run(self, scope: dict[str, Any], content: bytes) -> tuple[int, bytes]:
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": content, "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        await self._asgi(scope, receive, send)
        return sent[0]["status"], b"".join(one.get("body", b"") for one in sent[1:])
