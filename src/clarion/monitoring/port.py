"""The monitoring port: a small HTTP server for probes and Prometheus, in every kind of process.

It knows GET and HEAD, reads no bodies and closes after each answer. It is open until the process has ended its work, so
that a process which is stopping still says so.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus

from clarion.errors import SettingsError
from clarion.jsontext import encode_json
from clarion.monitoring.answers import Answer, Answers

MAX_CONNECTIONS = 64
_MAX_HEAD_BYTES = 16 * 1024
_HEAD_SECONDS = 10.0
_WRITE_SECONDS = 30.0

log = logging.getLogger(__name__)


class MonitoringPort:
    """Serves answers."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._open = 0

    @asynccontextmanager
    async def listen(self, host: str, port: int) -> AsyncIterator[int]:
        """Serve while the body runs; yields the port, which may have been 0 for a free one."""
        try:
            server = await asyncio.start_server(self._serve, host, port, limit=_MAX_HEAD_BYTES)
        except OSError as error:
            raise SettingsError(
                f"Cannot listen on {host}:{port} ({error.strerror}); choose another with CLARION_MONITOR_PORT."
            ) from error
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            if self._open <= MAX_CONNECTIONS:
                async with asyncio.timeout(_HEAD_SECONDS):
                    head = await reader.readuntil(b"\r\n\r\n")
                answer, with_body = await self._answer(head)
                writer.write(_render(answer, with_body=with_body))
                async with asyncio.timeout(_WRITE_SECONDS):
                    await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass  # a client that is too slow, has gone, or sends something else than HTTP
        except Exception:
            log.exception("Monitoring failed")
        finally:
            self._open -= 1
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, head: bytes) -> tuple[Answer, bool]:
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ", 2)
        if method not in ("GET", "HEAD"):
            return _refuse(405, "Only GET and HEAD are served here"), True
        answer = await self._answers.answer(target.partition("?")[0], _read_headers(lines), is_public=False)
        return answer or _refuse(404, "There are /metrics, /live and /ready here"), method == "GET"


def _read_headers(lines: list[str]) -> Mapping[bytes, bytes]:
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower().encode("latin-1")] = value.strip().encode("latin-1")
    return headers


def _refuse(status: int, message: str) -> Answer:
    return Answer(status, b"application/json", encode_json({"statusCode": status, "message": message}))


def _render(answer: Answer, *, with_body: bool) -> bytes:
    lines = [
        f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}".encode(),
        b"content-type: " + answer.content_type,
        b"content-length: %d" % len(answer.body),
        b"connection: close",
        *(name + b": " + value for name, value in answer.headers),
    ]
    return b"\r\n".join([*lines, b"", answer.body if with_body else b""])
