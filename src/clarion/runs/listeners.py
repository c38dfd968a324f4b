"""Somebody who listens to runs: what waits to be sent to them, and what they missed."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from msgspec import Struct

from clarion.clock import Millis, iso_text
from clarion.runs.model import RunFilter
from clarion.runs.wire import RunFilterQuery, RunsEndOut, RunsMissedOut

MAX_WAITING_BYTES = 1024 * 1024
"""How much waits for a listener who reads slowly; beyond that they miss runs, and are told so."""


class Chunk(Struct, frozen=True, kw_only=True):
    """Events that are sent together."""

    data: bytes
    rows: int
    after: Millis
    before: Millis
    """When the runs began or changed."""


class Missed(Struct, frozen=True, kw_only=True):
    """Runs that were not sent."""

    count: int
    after: Millis
    before: Millis
    at_least: bool = False

    def and_chunk(self, chunk: Chunk) -> "Missed":
        return Missed(count=self.count + chunk.rows, after=self.after, before=chunk.before, at_least=self.at_least)


class RunListener:
    """One stream, with its filter."""

    def __init__(self, query: RunFilterQuery, wanted: RunFilter, *, after: Millis | None = None) -> None:
        self.query = query
        self.wanted = wanted
        self.after = after
        """Where the client was when it was disconnected; None: it begins now."""
        self.has_joined = False
        self.sent_at = Millis(0)
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._missed: Missed | None = None
        self._end: str | None = None
        self._has_news = asyncio.Event()

    @property
    def has_unknown(self) -> bool:
        """Whether its filter names something that does not exist yet, such as a transaction."""
        query, wanted = self.query, self.wanted
        return (
            len(set(query.transaction_id)) > len(wanted.trigger_ids or ())
            or len(set(query.subscriber_id)) > len(wanted.subscriber_ids or ())
            or len(set(query.workflow_id)) > len(wanted.workflow_ids or ())
        )

    def put(self, chunk: Chunk) -> None:
        """Send events as soon as the client reads; without room for them they are missed."""
        if self._missed is not None:
            self._missed = self._missed.and_chunk(chunk)
        elif self._size + len(chunk.data) > MAX_WAITING_BYTES:
            self._missed = Missed(count=chunk.rows, after=chunk.after, before=chunk.before)
        else:
            self._chunks.append(chunk.data)
            self._size += len(chunk.data)
        self._has_news.set()

    def close(self, reason: str) -> None:
        self._end = self._end or reason
        self._has_news.set()

    async def chunks(self) -> AsyncIterator[bytes]:
        """What is to be sent, until the stream is closed."""
        while True:
            await self._has_news.wait()
            self._has_news.clear()
            if self._chunks:
                data = b"".join(self._chunks)
                self._chunks.clear()
                self._size = 0
                yield data
            if self._missed is not None:
                missed, self._missed = self._missed, None
                yield encode_missed(missed)
            if self._end is not None:
                yield encode_event("end", RunsEndOut(reason=self._end))
                return


def encode_event(name: str, data: Any, *, position: Millis | None = None) -> bytes:
    """One server-sent event; with a position, a client that comes back goes on from there."""
    head = "" if position is None else f"id: {iso_text(position)}\n"
    return f"{head}event: {name}\ndata: ".encode() + msgspec.json.encode(data) + b"\n\n"


def encode_missed(missed: Missed) -> bytes:
    told = RunsMissedOut(
        count=missed.count,
        at_least=missed.at_least,
        after=iso_text(missed.after),
        before=iso_text(missed.before),
    )
    return encode_event("missed", told, position=missed.before)
