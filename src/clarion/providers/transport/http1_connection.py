"""A connection over HTTP/1.1, which carries one request and its answer after another, and the reader of the answers."""

import asyncio
from typing import cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser
from msgspec import Struct

from clarion.providers.transport.calls import MAX_ANSWER

_MAX_HEAD = 64 * 1024
"""The most that a server may send before the body of its answer begins."""
_WRITTEN_TOGETHER = 64 * 1024
"""Copying a larger body behind its head costs more than a second write."""


class BadAnswer(Exception):
    """The server sent something that is not an answer."""


class Http1Answer(Struct, frozen=True):
    status: int
    headers: dict[str, str]
    """By lower-case names; values of the same name are joined by commas."""
    content: bytes
    """Cut at MAX_ANSWER bytes."""
    is_cut: bool = False
    """Whether it has MAX_ANSWER bytes or more."""


class AnswerReader:
    """Reads one answer; announcements before it (status 1xx) are left out."""

    def __init__(self) -> None:
        self.answer: Http1Answer | None = None
        """None until it is complete."""
        self.can_continue = False
        """Whether the server reads another request from the same connection."""
        self._headers: dict[str, str] = {}
        self._content = bytearray()
        self._head_size = 0
        self._has_head = False
        self._parser = HttpResponseParser(self)
        # Some servers end lines without a carriage return, or continue a header in the next line.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True, lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )

    def feed(self, data: bytes) -> None:
        """Read what has arrived; raises BadAnswer."""
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            self.can_continue = False
            if self.answer is None:
                raise BadAnswer(str(error)) from error
        if not self._has_head and self.answer is None:
            self._head_size += len(data)
            if self._head_size > _MAX_HEAD:
                raise BadAnswer("the headers are too long")

    def end(self) -> None:
        """The server closed the connection, which completes an answer that does not state its length."""
        is_chunked = "chunked" in self._headers.get("transfer-encoding", "").lower()
        states_length = is_chunked or "content-length" in self._headers
        if self._has_head and not states_length:
            self._complete()

    def close(self) -> None:
        """Read no more. The parser refers to this object: both would live until the next garbage collection."""
        del self._parser

    def _complete(self) -> None:
        content, is_cut = bytes(self._content[:MAX_ANSWER]), len(self._content) >= MAX_ANSWER
        self.answer = Http1Answer(self._parser.get_status_code(), self._headers, content, is_cut)

    # The parser calls these.

    def on_message_begin(self) -> None:
        # The first answer, one after an announcement, or one without a request.
        self._headers, self._has_head, self.can_continue = {}, False, False

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._has_head:
            # Behind the last chunk: they are not needed.
            return
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        known = self._headers.get(key)
        self._headers[key] = text if known is None else f"{known}, {text}"

    def on_headers_complete(self) -> None:
        self._has_head = True

    def on_body(self, body: bytes) -> None:
        self._content += body
        if self.answer is None and len(self._content) >= MAX_ANSWER:
            self._complete()

    def on_message_complete(self) -> None:
        if self.answer is not None:
            return
        if self._parser.get_status_code() < 200:
            self._has_head = False
        else:
            self.can_continue = self._parser.should_keep_alive()
            self._complete()


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
