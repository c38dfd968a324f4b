"""The carrier: hands messages to providers, and keeps what is secret out of what comes back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self

from clarion.clock import Clock, SystemClock
from clarion.providers.apprise.transport import AppriseTransport
from clarion.providers.definition.answer import ProviderAnswer
from clarion.providers.definition.credentials import read_credentials
from clarion.providers.definition.kinds import BuiltinProvider, SmtpProvider, WebProvider
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.provider import Provider
from clarion.providers.definition.receipts import Callback, Receipt, ReceiptRefused, Reply
from clarion.providers.definition.request import ProviderRequest
from clarion.providers.definition.result import FailureKind, SendFailure, Sent
from clarion.providers.email.message import read_email
from clarion.providers.email.mime import write_letter
from clarion.providers.registry import find_provider
from clarion.providers.sending.http_sender import HttpSender
from clarion.providers.sending.redaction import redaction, redaction_of_account
from clarion.providers.transport.egress import EgressGuard
from clarion.providers.transport.http_clients import HttpClients
from clarion.providers.transport.smtp.client import SmtpPool
from clarion.providers.transport.urls import Reroute
from clarion.vocabulary import Channel

_MAX_SENTENCE = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a provider may take for one message."""

    web_seconds: float = 15
    smtp_seconds: float = 30


class ProviderGateway:
    """One per process; holds the connections to providers while it is entered."""

    def __init__(
        self,
        egress: EgressGuard,
        *,
        patience: Patience | None = None,
        clock: Clock | None = None,
        reroute: Reroute | None = None,
    ) -> None:
        self._egress = egress
        self._patience = patience or Patience()
        self._clock = clock or SystemClock()
        self._reroute = reroute
        self._smtp = SmtpPool(egress, seconds=self._patience.smtp_seconds, clock=self._clock, reroute=reroute)
        self._http_sender: HttpSender | None = None

    async def __aenter__(self) -> Self:
        seconds = self._patience.web_seconds
        clients = HttpClients(self._egress, seconds=seconds, clock=self._clock, reroute=self._reroute)
        clients.prepare()
        apprise = AppriseTransport(self._egress, seconds=seconds, clock=self._clock)
        self._http_sender = HttpSender(clients, apprise, self._clock)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._smtp.close()
        http_sender, self._http_sender = self._http_sender, None
        if http_sender is not None:
            await http_sender.close()

    def can_send(self, provider_id: str) -> bool:
        provider = find_provider(provider_id)
        if isinstance(provider, BuiltinProvider):
            return provider.channel is not Channel.IN_APP
        return isinstance(provider, WebProvider | SmtpProvider)

    async def send(self, provider_id: str, outgoing: Outgoing) -> Sent:
        """Hand the message over, once; raises SendFailure, in words and values without a secret."""
        redact = redaction(outgoing)
        try:
            sent = await self._send(provider_id, outgoing)
        except SendFailure as error:
            failure = _redacted(error, redact)
        else:
            return replace(sent, raw=redact(sent.raw))
        # Raised out here, it has no cause and no context: these quote URLs and servers as they are.
        raise failure

    async def check(self, provider_id: str, credentials: Mapping[str, Any]) -> None:
        """Try an account out without sending anything; raises SendFailure where it does not work."""
        provider = self._provider(provider_id)
        redact = redaction_of_account(provider.channel, credentials)
        try:
            if isinstance(provider, WebProvider):
                await self._entered().check(provider, credentials)
            elif isinstance(provider, SmtpProvider):
                await self._smtp.check(provider.account(read_credentials(provider.credentials, credentials)))
        except SendFailure as error:
            failure = _redacted(error, redact)
        else:
            return
        raise failure

    async def read_receipts(
        self, provider_id: str, credentials: Mapping[str, Any], callback: Callback
    ) -> tuple[list[Receipt], Reply | None]:
        """What a provider reports, and the answer that it insists on; raises ReceiptRefused when it is not them."""
        provider = find_provider(provider_id)
        if not isinstance(provider, WebProvider):
            raise ReceiptRefused(f"'{provider_id}' reports nothing")
        return await self._entered().read_receipts(provider, credentials, callback)

    async def ask_receipts(
        self, provider_id: str, credentials: Mapping[str, Any], tickets: Sequence[str]
    ) -> list[Receipt]:
        """What a provider knows by now of messages that it gave tickets for; raises SendFailure."""
        provider = find_provider(provider_id)
        if not isinstance(provider, WebProvider):
            return []
        redact = redaction_of_account(provider.channel, credentials)
        try:
            return await self._entered().ask_receipts(provider, credentials, tickets)
        except SendFailure as error:
            failure = _redacted(error, redact)
        raise failure

    async def call(self, request: ProviderRequest) -> ProviderAnswer:
        """Call somebody who is no provider, guarded like everyone; raises SendFailure where there is no answer."""
        return await self._entered().call(request)

    async def check_url(self, url: str) -> None:
        """Raises SendFailure where nothing can ever be sent to the URL; nobody is asked what its name means."""
        await self._entered().check_url(url)

    async def _send(self, provider_id: str, outgoing: Outgoing) -> Sent:
        provider = self._provider(provider_id)
        if isinstance(provider, WebProvider):
            return await self._entered().send(provider, outgoing)
        if isinstance(provider, SmtpProvider):
            account = read_credentials(provider.credentials, outgoing.credentials)
            letter = write_letter(read_email(outgoing, account, self._clock.now()))
            return await self._smtp.send(provider.account(account), letter)
        return Sent(provider_message_id=outgoing.message_id, raw={"outbox": True})

    def _provider(self, provider_id: str) -> Provider:
        provider = find_provider(provider_id)
        if provider is None or not self.can_send(provider_id):
            raise SendFailure(FailureKind.PERMANENT, f"Clarion cannot send through '{provider_id}' yet")
        return provider

    def _entered(self) -> HttpSender:
        if self._http_sender is None:
            raise RuntimeError("The carrier is entered before it sends")
        return self._http_sender


def _redacted(failure: SendFailure, redact: Any) -> SendFailure:
    sentence = redact(failure.message)[:_MAX_SENTENCE]
    shown = SendFailure(failure.kind, sentence, retry_after=failure.retry_after, raw=redact(failure.raw))
    shown.is_ambiguous, shown.dead_tokens = failure.is_ambiguous, failure.dead_tokens
    return shown
