"""The HTTP/1.1 client: checked addresses, no redirects, size-limited answers; it ignores cookies and proxies."""

import asyncio
import os
import ssl

from yarl import URL

from clarion.clock import Clock
from clarion.providers.definition.answer import ProviderAnswer
from clarion.providers.definition.request import ProviderCall
from clarion.providers.definition.result import FailureKind, SendFailure, mark_ambiguous
from clarion.providers.transport.answers import make_answer
from clarion.providers.transport.egress import EgressGuard
from clarion.providers.transport.headers import check_headers
from clarion.providers.transport.http1.answer import BadAnswer, Http1Answer
from clarion.providers.transport.http1.pool import Http1Pool, Origin
from clarion.providers.transport.shortage import find_shortage
from clarion.providers.transport.urls import RewriteUrl, host_and_port, parse_url

_DEFAULTS = {
    "accept": "Accept: */*",
    "accept-encoding": "Accept-Encoding: identity",
    "user-agent": "User-Agent: Clarion",
}


class Http1Client:
    """One for all providers of a process."""

    def __init__(
        self, egress: EgressGuard, *, seconds: float, clock: Clock, rewrite_url: RewriteUrl | None = None
    ) -> None:
        self._egress = egress
        self._rewrite_url = rewrite_url
        self._seconds = seconds
        self._clock = clock
        self._pool = Http1Pool(egress)

    async def close(self) -> None:
        self._pool.close()

    async def call(self, call: ProviderCall) -> ProviderAnswer:
        """Make the call and return its answer with any status; raises SendFailure for a redirect or no answer."""
        url = parse_url(call.url)
        answer = await self._exchange(url, call)
        if 300 <= answer.status < 400:
            message = f"{url.host} answered with a redirect ({answer.status}), which is not followed"
            raise SendFailure(FailureKind.PERMANENT, message, raw={"status": answer.status})
        return make_answer(call, answer.status, answer.headers, answer.content, self._clock)

    async def check(self, text: str) -> None:
        """Raise SendFailure if the URL is malformed, or its host is an address that is not allowed."""
        url = parse_url(text)
        if _is_address(url.host or ""):
            await self._egress.resolve(url.host or "", url.port or 0)

    async def _exchange(self, url: URL, call: ProviderCall) -> Http1Answer:
        target = url if self._rewrite_url is None else self._rewrite_url(url)
        origin = Origin(target.scheme == "https", target.raw_host or "", target.port or 0)
        head = _write_head(call, target, host_and_port(url))
        is_sent = False
        try:
            async with asyncio.timeout(self._seconds):
                connection = await self._pool.get(origin)
                # Getting the connection may have taken long.
                if not call.can_start():
                    self._pool.put_back(origin, connection)
                    raise SendFailure(FailureKind.NO_CONNECTION, f"The connection to {url.host} was free too late")
                is_sent = True
                answer = await connection.exchange(head, call.content)
        except TimeoutError as error:
            failure = SendFailure(FailureKind.RETRYABLE, f"{url.host} did not answer within {self._seconds:g} seconds")
            raise _mark_sent(failure, is_sent=is_sent) from error
        except (OSError, BadAnswer) as error:
            raise find_shortage(error) or _connection_failure(url, error, is_sent=is_sent) from error
        self._pool.put_back(origin, connection)
        return answer


def _write_head(call: ProviderCall, target: URL, host: str) -> bytes:
    check_headers(call.headers)
    lines = {"host": f"Host: {host}", **_DEFAULTS}
    for name, value in call.headers.items():
        lines[name.lower()] = f"{name}: {value}"
    if call.content or call.method != "GET":
        lines["content-length"] = f"Content-Length: {len(call.content)}"
    return "\r\n".join((f"{call.method} {target.raw_path_qs} HTTP/1.1", *lines.values(), "", "")).encode()


def _is_address(host: str) -> bool:
    """Return whether the host may be a literal address. False positives are harmless: they are checked once more."""
    return ":" in host or host.rstrip(".").rpartition(".")[2][:1].isdigit()


def _connection_failure(url: URL, error: Exception, *, is_sent: bool) -> SendFailure:
    if isinstance(error, ssl.SSLCertVerificationError):
        return SendFailure(FailureKind.PERMANENT, f"The certificate of {url.host} cannot be trusted")
    if isinstance(error, BadAnswer):
        message = f"{url.host} did not answer with HTTP: {error}"
    else:
        message = f"The connection to {url.host} failed: {_read_reason(error, is_sent=is_sent)}"
    return _mark_sent(SendFailure(FailureKind.RETRYABLE, message), is_sent=is_sent)


def _read_reason(error: Exception, *, is_sent: bool) -> str:
    """Say what is wrong with a connection, without its address, which the text of the error may contain."""
    if isinstance(error, ssl.SSLError):
        return f"TLS ({error.reason or 'no reason given'})"
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    # Several addresses that fail differently have no common number.
    return "it was closed" if is_sent else "none of its addresses can be reached"


def _mark_sent(failure: SendFailure, *, is_sent: bool) -> SendFailure:
    """A failed connect has sent nothing. After that, the provider may have read the request."""
    return mark_ambiguous(failure) if is_sent else failure
