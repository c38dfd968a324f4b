"""Reading server-sent events in tests."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from msgspec import Struct


class Event(Struct, frozen=True):
    name: str
    data: dict[str, Any]
    id: str | None


def parse_events(text: str) -> Iterator[Event]:
    for block in text.split("\n\n"):
        fields = dict(line.partition(": ")[::2] for line in block.splitlines())
        if "data" in fields:
            yield Event(fields.get("event", "message"), json.loads(fields["data"]), fields.get("id"))


class EventStream:
    """A stream that is open."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self.position: str | None = None
        self._texts = response.aiter_text()
        self._rest = ""
        self._events: list[Event] = []

    async def next(self) -> Event:
        while not self._events:
            self._rest += await anext(self._texts)
            whole, mark, self._rest = self._rest.rpartition("\n\n")
            self._events = list(parse_events(whole + mark))
        event = self._events.pop(0)
        self.position = event.id or self.position
        return event

    async def runs(self, count: int) -> list[dict[str, Any]]:
        """The next rows, whatever else comes between them, up to the position behind them."""
        found: list[dict[str, Any]] = []
        while True:
            event = await self.next()
            if event.name == "run":
                found.append(event.data)
            elif event.id is not None and len(found) >= count:
                return found


@asynccontextmanager
async def open_stream(
    client: httpx.AsyncClient, *, last_event_id: str | None = None, **query: Any
) -> AsyncIterator[EventStream]:
    headers = {} if last_event_id is None else {"Last-Event-ID": last_event_id}
    async with client.stream("GET", "/v1/runs/stream", params=query, headers=headers) as response:
        assert response.status_code == 200, await response.aread()
        opened = EventStream(response)
        if last_event_id is None:
            assert (await opened.next()).name == "position"
        yield opened
