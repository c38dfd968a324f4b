"""Sending responses whose length is known.

uvicorn checks each header of any application and writes head and body apart, which takes 2 % of the time of a
trigger. Clarion's own headers need one look at all of them, and the whole response is written at once.
"""

from starlette.types import Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from clarion.http.static import HeaderList

_MAX_JOINED_BYTES = 64 * 1024
"""Larger bodies are not copied behind their head."""


async def send_response(send: Send, status: int, headers: HeaderList, body: bytes) -> None:
    """Send a response; `headers` have its length, and say nothing about the connection."""
    cycle = getattr(send, "__self__", None)
    if isinstance(cycle, RequestResponseCycle):
        await _write(cycle, status, headers, body)
    else:
        # Another server, or somebody who looks at what is sent.
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


async def _write(cycle: RequestResponseCycle, status: int, headers: HeaderList, body: bytes) -> None:
    """As `RequestResponseCycle.send` does it in two steps."""
    if cycle.flow.write_paused and not cycle.disconnected:
        await cycle.flow.drain()
    if cycle.disconnected:
        return
    head = STATUS_LINE[status] + _render([*cycle.default_headers, *headers])
    head += b"\r\n" if cycle.keep_alive else b"connection: close\r\n\r\n"
    cycle.response_started = True
    cycle.waiting_for_100_continue = False
    if cycle.scope["method"] == "HEAD":
        body = b""
    if len(body) <= _MAX_JOINED_BYTES:
        cycle.transport.write(head + body)
    else:
        cycle.transport.write(head)
        cycle.transport.write(body)
    cycle.response_complete = True
    cycle.message_event.set()
    if not cycle.keep_alive:
        cycle.transport.close()
    cycle.on_response()


def _render(headers: HeaderList) -> bytes:
    lines = b"".join([b"%b: %b\r\n" % one for one in headers])
    if lines.count(b"\n") != len(headers) or lines.count(b"\r") != len(headers) or b"\0" in lines:
        raise ValueError("A header has a line break or a null character")
    return lines
