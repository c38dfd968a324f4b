"""A connection to a server over HTTP/1.1, which carries one request and its answer after another."""

import asyncio
from typing import cast

from clarion.providers.transport.http1.answer import AnswerReader, BadAnswer, Http1Answer

_WRITTEN_TOGETHER = 64 * 1024
"""Copying a larger body behind its head costs more than a second write."""


class Http1Connection(asyncio.Protocol):
    """Made by the event loop when it has connected."""

    def __init__(self) -> None:
        self.idle_since = 0.0
        self._transport: asyncio.Transport | None = None
        self._reader: AnswerReader | None = None
        self._waiter: asyncio.Future[Http1Answer] | None = None

    @property
    def is_usable(self) -> bool:
        """Whether another request can be sent."""
        return self._transport is not None

    async def exchange(self, head: bytes, content: bytes) -> Http1Answer:
        """Send a request and return its answer; raises OSError or BadAnswer if there is none.

        The connection is closed if this fails or is canceled: the answer might come later.
        """
        if self._transport is None:
            raise ConnectionResetError
        reader = self._reader = AnswerReader()
        self._waiter = asyncio.get_running_loop().create_future()
        if len(content) < _WRITTEN_TOGETHER:
            self._transport.write(head + content)
        else:
            self._transport.writelines((head, content))
        can_continue = False
        try:
            answer = await self._waiter
            can_continue = reader.can_continue and self._has_sent_everything()
            return answer
        finally:
            self._reader = self._waiter = None
            reader.close()
            if not can_continue:
                self.abort()

    def _has_sent_everything(self) -> bool:
        """A server may answer before it has read the whole request."""
        return self._transport is not None and self._transport.get_write_buffer_size() == 0

    def abort(self) -> None:
        """Close at once; what was not sent yet is dropped."""
        if self._transport is not None:
            self._transport.abort()
            self._transport = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if self._reader is None or self._reader.answer is not None:
            # More than was asked for.
            self.abort()
            return
        try:
            self._reader.feed(data)
        except BadAnswer as error:
            self._end(error)
        else:
            self._end()

    def eof_received(self) -> None:
        if self._reader is None:
            # Not used again from this moment on; its loss is reported later.
            self.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._reader is not None:
            if exc is None:
                self._reader.end()
            self._end(exc or ConnectionResetError())

    def _end(self, error: Exception | None = None) -> None:
        """Hand over the answer if it is complete, or the error."""
        if self._waiter is None or self._reader is None or self._waiter.done():
            return
        if self._reader.answer is not None:
            self._waiter.set_result(self._reader.answer)
        elif error is not None:
            self._waiter.set_exception(error)
