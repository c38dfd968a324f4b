"""The gateway: sends messages through providers, and redacts secrets in the results."""

from collections.abc import Generator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Clock, SystemClock
from clarion.providers.definition.credentials import read_credentials
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.provider import HttpProvider, Provider, SmtpProvider
from clarion.providers.definition.receipts import Callback, ProviderReply, Receipt, ReceiptRefused
from clarion.providers.definition.request import ProviderCall, ProviderRequest, check_sizes
from clarion.providers.definition.result import FailureKind, ProviderAnswer, SendFailure, Sent
from clarion.providers.email.message import read_email
from clarion.providers.email.mime import MimeMessage, write_mime
from clarion.providers.email.smtp_account import SmtpAccount
from clarion.providers.registry import find_provider
from clarion.providers.sending.accounts import Accounts
from clarion.providers.sending.http_sender import (
    MAX_LOOP_CHARACTERS,
    AnyProvider,
    HttpSender,
    add_overrides,
    run_by_size,
)
from clarion.providers.sending.redaction import make_account_redactor, make_redactor
from clarion.providers.signing.dkim import sign_email
from clarion.providers.transport.apprise_client import AppriseClient
from clarion.providers.transport.calls import RewriteUrl
from clarion.providers.transport.egress import EgressGuard
from clarion.providers.transport.http_clients import HttpClients
from clarion.providers.transport.smtp import SmtpClient
from clarion.secret import Secret
from clarion.vocabulary import Channel

SIMULATED = {"simulated": True}
_MAX_MESSAGE = 400


class Timeouts(Struct, frozen=True, kw_only=True):
    """How long a provider may take for one message."""

    http_seconds: float = 15
    smtp_seconds: float = 30


class ProviderGateway:
    """Sends through all providers; one per process. It holds connections while it is entered."""

    def __init__(
        self,
        egress: EgressGuard,
        *,
        timeouts: Timeouts | None = None,
        clock: Clock | None = None,
        rewrite_url: RewriteUrl | None = None,
    ) -> None:
        self._egress = egress
        self._timeouts = timeouts or Timeouts()
        self._clock = clock or SystemClock()
        self._rewrite_url = rewrite_url
        self._smtp = SmtpClient(egress, seconds=self._timeouts.smtp_seconds, clock=self._clock, rewrite_url=rewrite_url)
        self._http_sender: HttpSender | None = None
        self._accounts = Accounts()

    async def __aenter__(self) -> Self:
        seconds = self._timeouts.http_seconds
        clients = HttpClients(self._egress, seconds=seconds, clock=self._clock, rewrite_url=self._rewrite_url)
        clients.prepare()
        apprise = AppriseClient(self._egress, seconds=seconds, clock=self._clock)
        self._http_sender = HttpSender(clients, apprise, self._accounts, self._clock)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._smtp.close()
        http_sender, self._http_sender = self._http_sender, None
        if http_sender is not None:
            await http_sender.close()

    async def send(self, provider_id: str, outgoing: Outgoing) -> Sent:
        """Send the message once; raises SendFailure, without secrets in its text and values."""
        redact = make_redactor(outgoing, self._accounts.list_secrets(outgoing.credentials))
        try:
            sent = await self._send(provider_id, outgoing)
        except SendFailure as error:
            failure = redact_failure(error, redact)
        else:
            refused = redact(sent.refused) if sent.refused else sent.refused
            return replace(sent, raw=redact(sent.raw), refused=refused)
        # Raised outside of the except block, so that it has no __cause__ and __context__: these hold secrets.
        raise failure

    async def check(self, provider_id: str, credentials: Mapping[str, Any]) -> None:
        """Test credentials without sending a message; raises SendFailure if they do not work."""
        provider = get_sending_provider(provider_id)
        redact = make_account_redactor(provider.channel, credentials)
        try:
            if isinstance(provider, HttpProvider):
                await self._get_http_sender().check(provider, credentials)
            elif isinstance(provider, SmtpProvider):
                await self._smtp.check(provider.account(read_credentials(provider.credentials, credentials)))
        except SendFailure as error:
            failure = redact_failure(error, redact)
        else:
            return
        raise failure

    async def read_receipts(
        self, provider_id: str, credentials: Mapping[str, Any], callback: Callback
    ) -> tuple[list[Receipt], ProviderReply | None]:
        """Return the receipts of a webhook call, or the reply that the provider requires; raises ReceiptRefused."""
        provider = find_provider(provider_id)
        if not isinstance(provider, HttpProvider):
            raise ReceiptRefused(f"'{provider_id}' reports nothing")
        return await self._get_http_sender().read_receipts(provider, credentials, callback)

    async def register_receipts(self, provider_id: str, credentials: Mapping[str, Any], url: str) -> Secret | None:
        """Have the provider report to a URL; returns the key of its signatures, None if it has no API for that.

        Raises SendFailure, without secrets, if the provider refuses.
        """
        provider = find_provider(provider_id)
        if not isinstance(provider, HttpProvider):
            return None
        redact = make_account_redactor(provider.channel, credentials, receipts_url=url)
        try:
            return await self._get_http_sender().register_receipts(provider, credentials, url)
        except SendFailure as error:
            failure = redact_failure(error, redact)
        raise failure

    async def fetch_receipts(
        self, provider_id: str, credentials: Mapping[str, Any], tickets: Sequence[str]
    ) -> list[Receipt]:
        """Fetch the receipts that are available for these tickets; raises SendFailure if there is no answer."""
        provider = find_provider(provider_id)
        if not isinstance(provider, HttpProvider):
            return []
        redact = make_account_redactor(provider.channel, credentials)
        try:
            return await self._get_http_sender().fetch_receipts(provider, credentials, tickets)
        except SendFailure as error:
            failure = redact_failure(error, redact)
        raise failure

    async def call(self, request: ProviderRequest) -> ProviderAnswer:
        """Make a call that belongs to no provider; raises SendFailure if it is not allowed or there is no answer."""
        return await self._get_http_sender().call(request)

    async def call_encoded(self, call: ProviderCall) -> ProviderAnswer:
        """The same for a request that is encoded already."""
        return await self._get_http_sender().call_encoded(call)

    async def check_url(self, url: str) -> None:
        """Raise SendFailure if the URL can never be called; does not resolve host names."""
        await self._get_http_sender().check_url(url)

    async def _send(self, provider_id: str, outgoing: Outgoing) -> Sent:
        provider = get_sending_provider(provider_id)
        if isinstance(provider, HttpProvider):
            return await self._get_http_sender().send(provider, outgoing)
        if isinstance(provider, SmtpProvider):
            credentials, account = self._accounts.read_smtp(provider, outgoing.credentials)
            now = self._clock.now()
            message = await run_by_size(
                outgoing, lambda: _sign(write_mime(read_email(outgoing, credentials, now)), account)
            )
            return await self._smtp.send(account, message, outgoing.can_start)
        return Sent(provider_message_id=outgoing.message_id, raw={"outbox": True})

    def _get_http_sender(self) -> HttpSender:
        if self._http_sender is None:
            raise RuntimeError("The carrier is entered before it sends")
        return self._http_sender


class DryGateway:
    """Finds the faults that show before a provider is called: credentials, addresses, sizes, contents."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def send(self, provider_id: str, outgoing: Outgoing) -> Sent:
        """Prepare the message; raises SendFailure, without secrets in its text and values."""
        try:
            self._prepare(provider_id, outgoing)
        except SendFailure as error:
            failure = redact_failure(error, make_redactor(outgoing))
        else:
            return Sent(provider_message_id=outgoing.message_id, raw=SIMULATED)
        raise failure

    def _prepare(self, provider_id: str, outgoing: Outgoing) -> None:
        provider = get_sending_provider(provider_id)
        if len(outgoing.content) > MAX_LOOP_CHARACTERS:
            # This takes long, and a simulation has no thread to do it in.
            return
        if isinstance(provider, HttpProvider):
            self._prepare_requests(provider, outgoing)
        elif isinstance(provider, SmtpProvider):
            account = read_credentials(provider.credentials, outgoing.credentials)
            provider.account(account)
            write_mime(read_email(outgoing, account, self._clock.now()))

    def _prepare_requests(self, provider: AnyProvider, outgoing: Outgoing) -> None:
        account = read_credentials(provider.credentials, outgoing.credentials)
        message = provider.read_message(outgoing, account, self._clock.now())
        for part in provider.parts(message).values():
            request = provider.request(account, part)
            if isinstance(request, Generator):
                # It would ask the provider for something first.
                request.close()
                continue
            request = add_overrides(provider, request, outgoing.overrides)
            if provider.sizes is not None:
                check_sizes(provider.name, provider.sizes(request))


def get_sending_provider(provider_id: str) -> Provider:
    """Find a provider that messages can be sent through; raises SendFailure."""
    provider = find_provider(provider_id)
    if provider is None or provider.channel is Channel.IN_APP:
        raise SendFailure(FailureKind.PERMANENT, f"Clarion cannot send through '{provider_id}' yet")
    return provider


def redact_failure(failure: SendFailure, redact: Any) -> SendFailure:
    """The failure without secrets in its text and values."""
    message = redact(failure.message)[:_MAX_MESSAGE]
    redacted = SendFailure(failure.kind, message, retry_after=failure.retry_after, raw=redact(failure.raw))
    redacted.is_ambiguous, redacted.dead_tokens = failure.is_ambiguous, failure.dead_tokens
    redacted.is_account_refused = failure.is_account_refused
    return redacted


def _sign(message: MimeMessage, account: SmtpAccount) -> MimeMessage:
    if account.dkim is None:
        return message
    return replace(message, content=sign_email(message.content, account.dkim))
