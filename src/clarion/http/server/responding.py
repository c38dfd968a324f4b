"""Sending responses whose length is known."""

from starlette.types import Send

from clarion.http.static import HeaderList


async def send_response(send: Send, status: int, headers: HeaderList, body: bytes) -> None:
    """Send a response; `headers` have its length."""
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
