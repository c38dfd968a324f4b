"""Asking an OpenID Connect provider over HTTP."""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlencode

import httpcore2
import msgspec

from clarion.members.oidc.problem import OidcProblem, OidcRefusal

_MAX_ANSWER = 1 << 20
_TIMEOUT_SECONDS = 10
_NO_HEADERS: Mapping[str, str] = {}
_ERRORS = (
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.TimeoutException,
    httpcore2.UnsupportedProtocol,
    TimeoutError,
    OSError,
    # A URL that cannot be called, or an answer that is not JSON.
    ValueError,
    msgspec.DecodeError,
)

# At debug level it logs every header, including secrets.
logging.getLogger("httpcore2").setLevel(logging.INFO)


class OidcHttp:
    """Connections to the provider for one attempt to sign in."""

    def __init__(self, pool: httpcore2.AsyncConnectionPool) -> None:
        self._pool = pool

    async def fetch(
        self, url: str, *, form: Mapping[str, str] | None = None, headers: Mapping[str, str] = _NO_HEADERS
    ) -> dict[str, Any]:
        """Return a JSON object from the provider; with a form, by POST. Raises OidcProblem."""
        sent = {"Accept": "application/json", "User-Agent": "Clarion", **headers}
        method, content = "GET", None
        if form is not None:
            method, content = "POST", urlencode(form).encode()
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                status, body = await self._exchange(method, url, sent, content)
            answer = msgspec.json.decode(body) if status == 200 else None
        except _ERRORS as error:
            problem = f"The provider at {url} could not be asked: {str(error) or type(error).__name__}"
            raise OidcProblem(problem) from error
        if not isinstance(answer, dict):
            reason = OidcRefusal.REFUSED if form is not None else OidcRefusal.UNAVAILABLE
            raise OidcProblem(f"The provider at {url} refused with status {status}", reason)
        return answer

    async def _exchange(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes | None
    ) -> tuple[int, bytes]:
        """Return the status and the body. An answer that is too long is cut, and is no JSON then.

        Redirects are not followed: the provider's own addresses need none, and codes and secrets must not go elsewhere.
        """
        encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
        body = bytearray()
        async with self._pool.stream(method, url, headers=encoded, content=content) as answer:
            async for part in answer.aiter_stream():
                body += part
                if len(body) >= _MAX_ANSWER:
                    break
            return answer.status, bytes(body[:_MAX_ANSWER])


@asynccontextmanager
async def open_oidc_http() -> AsyncIterator[OidcHttp]:
    async with httpcore2.AsyncConnectionPool(ssl_context=ssl.create_default_context()) as pool:
        yield OidcHttp(pool)
