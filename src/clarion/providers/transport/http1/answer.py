"""Reading the answer to a request from the bytes of a connection."""

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser
from msgspec import Struct

from clarion.providers.transport.urls import MAX_ANSWER

_MAX_HEAD = 64 * 1024
"""The most that a server may send before the body of its answer begins."""


class BadAnswer(Exception):
    """The server sent something that is not an answer."""


class Http1Answer(Struct, frozen=True):
    status: int
    headers: dict[str, str]
    """By lower-case names; values of the same name are joined by commas."""
    content: bytes
    """Cut at MAX_ANSWER bytes."""


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
        self.answer = Http1Answer(self._parser.get_status_code(), self._headers, bytes(self._content[:MAX_ANSWER]))

    # The parser calls these.

    def on_message_begin(self) -> None:
        # The first one, one after an announcement, or one that nobody has asked for.
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
