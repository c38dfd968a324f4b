"""The SMTP client: checked addresses, encryption, pooled connections and classification of errors."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from functools import lru_cache, partial
from ipaddress import IPv6Address

import aiosmtplib
from aiosmtplib import SMTP
from yarl import URL

from clarion.clock import SECOND, Clock
from clarion.providers.definition.outgoing import always
from clarion.providers.definition.result import FailureKind, SendFailure, Sent, mark_ambiguous
from clarion.providers.email.mime import MimeMessage
from clarion.providers.email.smtp_account import SmtpAccount
from clarion.providers.transport.calls import RewriteUrl, find_shortage
from clarion.providers.transport.egress import Address, EgressGuard
from clarion.providers.transport.smtp_pool import IDLE_TIMEOUT, ConnectionPool, OnClose
from clarion.providers.transport.smtp_session import LostBeforeContent, SmtpSession


class SmtpClient:
    """Sends e-mails over SMTP, with a connection pool for each account."""

    def __init__(
        self, egress: EgressGuard, *, seconds: float, clock: Clock, rewrite_url: RewriteUrl | None = None
    ) -> None:
        self._egress = egress
        self._rewrite_url = rewrite_url
        self._seconds = seconds
        self._clock = clock
        self._pools: dict[SmtpAccount, ConnectionPool] = {}
        self._cleanup: asyncio.TimerHandle | None = None

    def close(self) -> None:
        if self._cleanup is not None:
            self._cleanup.cancel()
        for pool in self._pools.values():
            pool.close()
        self._pools.clear()

    async def send(self, account: SmtpAccount, message: MimeMessage, can_start: Callable[[], bool] = always) -> Sent:
        """Send the message; it is sent if any recipient was accepted, who would get it twice if it was tried again."""
        try:
            replies, answer = await self._deliver(account, message, can_start)
        except (TimeoutError, aiosmtplib.SMTPException, OSError, ValueError) as error:
            raise self._failed(account, error) from error
        refused = {address: f"{code} {text}" for address, (code, text) in replies.items()}
        raw = {"answer": answer, "refused": refused}
        return Sent(provider_message_id=message.message_id, raw=raw, refused=refused)

    async def check(self, account: SmtpAccount) -> None:
        """Connect and log in without sending anything."""
        pool = self._get_pool(account)
        try:
            pool.release(await pool.acquire())
        except (TimeoutError, aiosmtplib.SMTPException, OSError, ValueError) as error:
            raise self._failed(account, error) from error

    def _failed(self, account: SmtpAccount, error: Exception) -> SendFailure:
        if isinstance(error, TimeoutError):
            message = f"{account.host} did not answer within {self._seconds:g} seconds"
            return SendFailure(FailureKind.RETRYABLE, message)
        return find_shortage(error) or _failure(account, error)

    async def _deliver(
        self, account: SmtpAccount, message: MimeMessage, can_start: Callable[[], bool]
    ) -> tuple[dict[str, aiosmtplib.SMTPResponse], str]:
        pool = self._get_pool(account)
        while True:
            session = await pool.acquire()
            if not can_start():
                pool.release(session)
                raise SendFailure(FailureKind.NO_CONNECTION, f"The connection to {account.host} was free too late")
            was_used = session.is_used
            try:
                async with asyncio.timeout(self._seconds):
                    return await session.send(message)
            except (aiosmtplib.SMTPResponseException, aiosmtplib.SMTPRecipientsRefused):
                raise
            except BaseException as error:
                # The state of the session is unknown, so it must not be reused.
                session.close()
                if session.is_content_sent and isinstance(error, Exception):
                    raise mark_ambiguous(self._failed(account, error)) from error
                if not was_used or not isinstance(error, LostBeforeContent):
                    raise
            finally:
                pool.release(session)

    def _get_pool(self, account: SmtpAccount) -> ConnectionPool:
        pool = self._pools.get(account)
        if pool is None:
            pool = ConnectionPool(
                account.host, partial(self._connect, account), seconds=self._seconds, clock=self._clock
            )
            self._pools[account] = pool
        if self._cleanup is None:
            self._cleanup = asyncio.get_running_loop().call_later(IDLE_TIMEOUT / SECOND, self._close_idle)
        return pool

    def _close_idle(self) -> None:
        self._cleanup = None
        for account, pool in list(self._pools.items()):
            pool.close_idle()
            if pool.is_empty:
                del self._pools[account]
        if self._pools:
            self._cleanup = asyncio.get_running_loop().call_later(IDLE_TIMEOUT / SECOND, self._close_idle)

    async def _connect(self, account: SmtpAccount, on_close: OnClose) -> SmtpSession:
        client = SMTP(
            hostname=account.server_name or account.host,
            timeout=self._seconds,
            use_tls=account.implicit_tls,
            start_tls=False if account.implicit_tls else account.start_tls,
            tls_context=_tls_context(account.authority, account.min_tls, check=account.check_certificate),
        )
        async with asyncio.timeout(self._seconds):
            opened, address = await self._open_socket(account)
            try:
                await client.connect(sock=opened, local_hostname=_own_name(opened))
                await _log_in(client, account, address)
            except BaseException:
                # The transport closes the socket; if there is none yet, we have to.
                is_owned = client.transport is not None
                client.close()
                if not is_owned:
                    opened.close()
                raise
        return SmtpSession(client, on_close)

    async def _open_socket(self, account: SmtpAccount) -> tuple[socket.socket, Address]:
        """Connect to the first checked address that accepts a connection."""
        failed: OSError = ConnectionError(f"{account.host} has no address")
        host, port = self._resolve_target(account)
        for address in await self._egress.resolve(host, port):
            family = socket.AF_INET6 if isinstance(address, IPv6Address) else socket.AF_INET
            opened = socket.socket(family, socket.SOCK_STREAM)
            opened.settimeout(0)
            try:
                await asyncio.get_running_loop().sock_connect(opened, (str(address), port))
            except OSError as error:
                opened.close()
                failed = error
            except BaseException:
                opened.close()
                raise
            else:
                return opened, address
        raise failed

    def _resolve_target(self, account: SmtpAccount) -> tuple[str, int]:
        if self._rewrite_url is None:
            return account.host, account.port
        target = self._rewrite_url(URL.build(scheme="smtp", host=account.host, port=account.port))
        return target.host or "", target.port or 0


async def _log_in(client: SMTP, account: SmtpAccount, address: Address) -> None:
    if client.is_ehlo_or_helo_needed:
        await _greet(client)
    if not account.user or not account.password:
        return
    # A server that offers no authentication accepts the message without it, or replies with the reason.
    if not client.supports_extension("auth"):
        return
    if client.get_transport_info("sslcontext") is None and not can_send_password_unencrypted(account, address):
        message = f"{account.host} offers no encryption: the password is sent in the clear with ignoreTls alone"
        raise SendFailure(FailureKind.PERMANENT, message)
    await client.login(account.user, account.password)


async def _greet(client: SMTP) -> None:
    try:
        await client.ehlo()
    except aiosmtplib.SMTPHeloError:
        # Very old servers do not support EHLO.
        await client.helo()


def can_send_password_unencrypted(account: SmtpAccount, address: Address) -> bool:
    """Return whether the password may be sent unencrypted: over loopback, or if the account turns TLS off."""
    return account.start_tls is False or address.is_loopback


def _own_name(opened: socket.socket) -> str:
    """Return the full host name for EHLO, or the address if there is none."""
    name = socket.gethostname()
    if "." in name and name.isascii() and name.isprintable():
        return name
    address = opened.getsockname()[0]
    return f"[IPv6:{address}]" if ":" in address else f"[{address}]"


@lru_cache(maxsize=64)
def _tls_context(authority: str | None, min_tls: str | None, *, check: bool) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if min_tls:
        context.minimum_version = ssl.TLSVersion[min_tls.replace(".", "_")]
    try:
        if authority:
            context.load_verify_locations(cadata=authority)
    except (ssl.SSLError, ValueError) as error:
        raise SendFailure(FailureKind.PERMANENT, "The certificate in 'tlsOptions.ca' cannot be read") from error
    if not check:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _failure(account: SmtpAccount, error: Exception) -> SendFailure:
    if isinstance(error, aiosmtplib.SMTPRecipientsRefused):
        # The first is the recipient of the message, whose reply decides; those of copies do not.
        first, *copies = error.recipients
        failure = _refusal(_recipient_kind(first.code, first.message), first)
        if copies:
            failure.raw["refused"] = {one.recipient: f"{one.code} {one.message}" for one in error.recipients}
        return failure
    if isinstance(error, aiosmtplib.SMTPResponseException):
        failure = _refusal(_kind(error.code), error)
        is_login = isinstance(error, aiosmtplib.SMTPAuthenticationError) or error.code in _LOGIN_NEEDED
        failure.is_account_refused = is_login and failure.kind is FailureKind.PERMANENT
        return failure
    if isinstance(error, ssl.SSLCertVerificationError) or isinstance(error.__cause__, ssl.SSLCertVerificationError):
        return SendFailure(FailureKind.PERMANENT, f"The certificate of {account.host} cannot be trusted")
    if isinstance(error, OSError):
        cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
        return SendFailure(
            FailureKind.RETRYABLE, f"The connection to {account.host} failed: {cause.strerror or 'it was closed'}"
        )
    return SendFailure(FailureKind.PERMANENT, f"{account.host} cannot take the message: {error}")


def _refusal(kind: FailureKind, error: aiosmtplib.SMTPResponseException) -> SendFailure:
    raw = {"code": error.code, "answer": error.message}
    return SendFailure(kind, f"{error.code} {error.message[:500]}", raw=raw)


# 530 asks for a login, which may have none; 534 and 538 refuse the way of logging in.
_LOGIN_NEEDED = frozenset({530, 534, 535, 538})


def _kind(code: int) -> FailureKind:
    return FailureKind.PERMANENT if 500 <= code < 600 else FailureKind.RETRYABLE


def _recipient_kind(code: int, message: str) -> FailureKind:
    if code in (550, 551, 553) or (code >= 500 and message.startswith("5.1.1")):
        return FailureKind.RECIPIENT_INVALID
    return _kind(code)
