"""Conversations with SMTP servers: guarded addresses, encryption, connections that are kept, what refusals mean."""

import asyncio
import socket
import ssl
from functools import lru_cache, partial
from ipaddress import IPv6Address

import aiosmtplib
from aiosmtplib import SMTP
from yarl import URL

from clarion.clock import SECOND, Clock
from clarion.providers.definition.result import FailureKind, SendFailure, Sent, ambiguous
from clarion.providers.definition.smtp_account import SmtpAccount
from clarion.providers.email.mime import Letter
from clarion.providers.transport.egress import Address, EgressGuard
from clarion.providers.transport.smtp.connections import KEPT_FOR, Connections, Ended
from clarion.providers.transport.smtp.session import Conversation, Unheard
from clarion.providers.transport.urls import Reroute


class SmtpPool:
    """Sends letters, and keeps the connections of each account for the next ones."""

    def __init__(self, egress: EgressGuard, *, seconds: float, clock: Clock, reroute: Reroute | None = None) -> None:
        self._egress = egress
        self._reroute = reroute
        self._seconds = seconds
        self._clock = clock
        self._connections: dict[SmtpAccount, Connections] = {}
        self._tidying: asyncio.TimerHandle | None = None

    def close(self) -> None:
        if self._tidying is not None:
            self._tidying.cancel()
        for connections in self._connections.values():
            connections.close()
        self._connections.clear()

    async def send(self, account: SmtpAccount, letter: Letter) -> Sent:
        try:
            refused, words = await self._deliver(account, letter)
        except (TimeoutError, aiosmtplib.SMTPException, OSError, ValueError) as error:
            raise self._failed(account, error) from error
        raw = {"answer": words, "refused": {address: f"{code} {text}" for address, (code, text) in refused.items()}}
        if letter.to in refused:
            code, text = refused[letter.to]
            raise SendFailure(_recipient_kind(code, text), f"{code} {text}", raw=raw)
        return Sent(provider_message_id=letter.message_id, raw=raw)

    async def check(self, account: SmtpAccount) -> None:
        """Connect and log in, and send nothing."""
        connections = self._connections_of(account)
        try:
            connections.give_back(await connections.take())
        except (TimeoutError, aiosmtplib.SMTPException, OSError, ValueError) as error:
            raise self._failed(account, error) from error

    def _failed(self, account: SmtpAccount, error: Exception) -> SendFailure:
        if isinstance(error, TimeoutError):
            message = f"{account.host} did not answer within {self._seconds:g} seconds"
            return SendFailure(FailureKind.RETRYABLE, message)
        return _failure(account, error)

    async def _deliver(self, account: SmtpAccount, letter: Letter) -> tuple[dict[str, aiosmtplib.SMTPResponse], str]:
        connections = self._connections_of(account)
        while True:
            conversation = await connections.take()
            was_used = conversation.is_used
            try:
                async with asyncio.timeout(self._seconds):
                    return await conversation.send(letter)
            except (aiosmtplib.SMTPResponseException, aiosmtplib.SMTPRecipientsRefused):
                raise
            except BaseException as error:
                # Where the conversation stands is not known, so nobody else may go on with it.
                conversation.close()
                if conversation.is_told and isinstance(error, Exception):
                    raise ambiguous(self._failed(account, error)) from error
                if not was_used or not isinstance(error, Unheard):
                    raise
            finally:
                connections.give_back(conversation)

    def _connections_of(self, account: SmtpAccount) -> Connections:
        found = self._connections.get(account)
        if found is None:
            found = Connections(account.host, partial(self._connect, account), seconds=self._seconds, clock=self._clock)
            self._connections[account] = found
        if self._tidying is None:
            self._tidying = asyncio.get_running_loop().call_later(KEPT_FOR / SECOND, self._tidy)
        return found

    def _tidy(self) -> None:
        self._tidying = None
        for account, connections in list(self._connections.items()):
            connections.tidy()
            if connections.is_empty:
                del self._connections[account]
        if self._connections:
            self._tidying = asyncio.get_running_loop().call_later(KEPT_FOR / SECOND, self._tidy)

    async def _connect(self, account: SmtpAccount, on_end: Ended) -> Conversation:
        client = SMTP(
            hostname=account.server_name or account.host,
            timeout=self._seconds,
            use_tls=account.implicit_tls,
            start_tls=False if account.implicit_tls else account.start_tls,
            tls_context=_tls_context(account.authority, check=account.check_certificate),
        )
        async with asyncio.timeout(self._seconds):
            opened, address = await self._open_socket(account)
            try:
                await client.connect(sock=opened, local_hostname=_own_name(opened))
                await _log_in(client, account, address)
            except BaseException:
                # Its transport says goodbye and then closes the socket; without one, that is for us to do.
                is_owned = client.transport is not None
                client.close()
                if not is_owned:
                    opened.close()
                raise
        return Conversation(client, on_end)

    async def _open_socket(self, account: SmtpAccount) -> tuple[socket.socket, Address]:
        """A connection to the first address that answers, of those that were checked."""
        failed: OSError = ConnectionError(f"{account.host} has no address")
        host, port = self._route(account)
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

    def _route(self, account: SmtpAccount) -> tuple[str, int]:
        if self._reroute is None:
            return account.host, account.port
        target = self._reroute(URL.build(scheme="smtp", host=account.host, port=account.port))
        return target.host or "", target.port or 0


async def _log_in(client: SMTP, account: SmtpAccount, address: Address) -> None:
    if client.is_ehlo_or_helo_needed:
        await _greet(client)
    if not account.user or not account.password:
        return
    # A server that offers no log-in takes the message without one, or says itself why not.
    if not client.supports_extension("auth"):
        return
    if client.get_transport_info("sslcontext") is None and not may_speak_openly(account, address):
        message = f"{account.host} offers no encryption: the password is sent in the clear with ignoreTls alone"
        raise SendFailure(FailureKind.PERMANENT, message)
    await client.login(account.user, account.password)


async def _greet(client: SMTP) -> None:
    try:
        await client.ehlo()
    except aiosmtplib.SMTPHeloError:
        # Very old servers know no extensions, and not the word for them.
        await client.helo()


def may_speak_openly(account: SmtpAccount, address: Address) -> bool:
    """May the password go without encryption? Where it stays on the machine, or the account wants it so."""
    return account.start_tls is False or address.is_loopback


def _own_name(opened: socket.socket) -> str:
    """The machine's full name, or else its address: what servers accept in a greeting."""
    name = socket.gethostname()
    if "." in name and name.isascii() and name.isprintable():
        return name
    address = opened.getsockname()[0]
    return f"[IPv6:{address}]" if ":" in address else f"[{address}]"


@lru_cache(maxsize=64)
def _tls_context(authority: str | None, *, check: bool) -> ssl.SSLContext:
    context = ssl.create_default_context()
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
        first = error.recipients[0]
        return _refusal(_recipient_kind(first.code, first.message), first)
    if isinstance(error, aiosmtplib.SMTPResponseException):
        return _refusal(_kind(error.code), error)
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


def _kind(code: int) -> FailureKind:
    return FailureKind.PERMANENT if 500 <= code < 600 else FailureKind.RETRYABLE


def _recipient_kind(code: int, message: str) -> FailureKind:
    if code in (550, 551, 553) or (code >= 500 and message.startswith("5.1.1")):
        return FailureKind.RECIPIENT_INVALID
    return _kind(code)
