"""The courier: carries messages to providers over HTTP, with tokens, signatures and what triggers add."""

import asyncio
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from clarion.clock import Clock
from clarion.providers.apprise.transport import ADDRESS, AppriseTransport
from clarion.providers.definition.answer import Handed, ProviderAnswer
from clarion.providers.definition.credentials import Credentials, read_credentials
from clarion.providers.definition.failures import ALREADY_SENT, Ruling, kind_of_status, sentence_of
from clarion.providers.definition.kinds import WebProvider
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.overrides import read_passthrough
from clarion.providers.definition.receipts import Asking, Callback, Receipt, ReceiptForged, ReceiptRefused, Reply
from clarion.providers.definition.request import ProviderCall, ProviderRequest, encode_call
from clarion.providers.definition.result import FailureKind, SendFailure, Sent, ambiguous
from clarion.providers.transport.http_clients import HttpClients
from clarion.providers.transport.token_cache import TokenStore

T = TypeVar("T")
AnyProvider = WebProvider[Any, Any]

_TOKENS_AT_A_TIME = 10


class HttpSender:
    """Speaks for every provider over HTTP; one per process."""

    def __init__(self, clients: HttpClients, apprise: AppriseTransport, clock: Clock) -> None:
        self._clients = clients
        self._apprise = apprise
        self._clock = clock
        self._tokens = TokenStore(self.call, clock)

    async def send(self, provider: AnyProvider, outgoing: Outgoing) -> Sent:
        account = read_credentials(provider.credentials, outgoing.credentials)
        message = provider.read_message(outgoing, account, self._clock.now())
        turns = asyncio.Semaphore(_TOKENS_AT_A_TIME)

        async def carry(part: Any) -> Sent | SendFailure:
            try:
                async with turns:
                    return await self._send_part(provider, account, part, outgoing)
            except SendFailure as failure:
                return failure

        parts = provider.parts(message)
        if len(parts) == 1:
            # Mostly there is one, which needs no task of its own.
            results = [await carry(part) for part in parts.values()]
        else:
            results = await asyncio.gather(*map(carry, parts.values()))
        return provider.join(dict(zip(parts, results, strict=True)))

    async def check(self, provider: AnyProvider, credentials: Mapping[str, Any]) -> None:
        """Try the credentials out; raises SendFailure in the provider's words when they do not work."""
        account = read_credentials(provider.credentials, credentials)
        if provider.check is None:
            if provider.token is not None and provider.token.is_needed(account):
                await self._tokens.token_of(provider.id, provider.token, account)
            return
        question = provider.check.request(account)
        if question is None:
            return
        answer = await self._speak(provider, account, question)
        if not provider.check.passes(answer):
            ruling = _judge(provider, answer)
            raise _refusal(provider, answer, ruling if isinstance(ruling, FailureKind) else FailureKind.PERMANENT)

    async def read_receipts(
        self, provider: AnyProvider, credentials: Mapping[str, Any], callback: Callback
    ) -> tuple[list[Receipt], Reply | None]:
        """What a provider reports, and the answer that it insists on; raises ReceiptRefused when it is not them."""
        if provider.receipts is None:
            raise ReceiptRefused(f"{provider.name} reports nothing")
        account = read_credentials(provider.credentials, credentials)
        try:
            reply = provider.receipts.handshake(callback, account)
            if reply is not None:
                return [], reply
            if not await self._answered(provider.receipts.is_genuine(callback, account)):
                raise ReceiptForged(f"The report is not signed as {provider.name} signs")
            return await self._answered(provider.receipts.parse(callback)), None
        # Whoever calls decides what the report looks like.
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise ReceiptRefused(f"The report is not one of {provider.name}") from error

    async def ask_receipts(
        self, provider: AnyProvider, credentials: Mapping[str, Any], tickets: Sequence[str]
    ) -> list[Receipt]:
        """The receipts of tickets, as far as there are any yet; raises SendFailure where there is no answer."""
        if provider.inquiry is None:
            return []
        account = read_credentials(provider.credentials, credentials)
        answer = await self._speak(provider, account, provider.inquiry.request(account, tickets))
        if not answer.is_success:
            raise _refusal(provider, answer, kind_of_status(answer.status))
        return provider.inquiry.read(answer)

    async def _send_part(self, provider: AnyProvider, account: Credentials, part: Any, outgoing: Outgoing) -> Sent:
        request = await self._answered(provider.request(account, part), provider, account)
        request = _with_overrides(provider, request, outgoing.overrides)
        answer = await self._speak(provider, account, request)
        ruling = _judge(provider, answer)
        if ruling is None:
            return _read_sent(provider, answer, Handed(account, part))
        if ruling == ALREADY_SENT:
            return Sent(provider_message_id=outgoing.message_id, raw=_raw(answer))
        raise _refusal(provider, answer, FailureKind(ruling))

    async def _answered(
        self, asking: T | Asking[T], provider: AnyProvider | None = None, account: Credentials | None = None
    ) -> T:
        """The result of something that may ask for more first; its questions are carried like everything else."""
        if not isinstance(asking, Generator):
            return asking
        try:
            question = next(asking)
            while True:
                question = asking.send(await self._ask(question, provider, account))
        except StopIteration as done:
            result: T = done.value
            return result

    async def _ask(
        self, question: ProviderRequest, provider: AnyProvider | None, account: Credentials | None
    ) -> ProviderAnswer:
        """Questions of receipts are not the account's to ask: they go without its token and signature."""
        if provider is None or account is None:
            return await self.call(question)
        return await self._speak(provider, account, question)

    async def _speak(self, provider: AnyProvider, account: Credentials, request: ProviderRequest) -> ProviderAnswer:
        """Carry a request of an account, with its access token; one that has died is fetched anew, once."""
        exchange = provider.token
        if exchange is None or not exchange.is_needed(account):
            return await self._exchange(provider, account, encode_call(request))
        call = encode_call(request)
        token = await self._tokens.token_of(provider.id, exchange, account)
        answer = await self._exchange(provider, account, call.signed(exchange.auth(account, token)))
        if answer.status != 401:
            return answer
        self._tokens.forget(provider.id, account)
        token = await self._tokens.token_of(provider.id, exchange, account)
        return await self._exchange(provider, account, call.signed(exchange.auth(account, token)))

    async def _exchange(self, provider: AnyProvider, account: Credentials, call: ProviderCall) -> ProviderAnswer:
        if provider.sign is not None:
            call = call.signed(provider.sign(account, call, self._clock.now()))
        if provider.over_apprise and call.url == ADDRESS:
            return await self._apprise.call(call)
        client = self._clients.http2 if provider.over_http2 else self._clients.web
        return await client.call(call)

    async def call(self, request: ProviderRequest) -> ProviderAnswer:
        """Call anybody, guarded like everyone; raises SendFailure where there is no answer."""
        return await self._clients.web.call(encode_call(request))

    async def check_url(self, url: str) -> None:
        """Raises SendFailure where nothing can ever be sent to the URL."""
        await self._clients.web.check(url)

    async def close(self) -> None:
        await self._clients.close()


def _with_overrides(provider: AnyProvider, request: ProviderRequest, overrides: Mapping[str, Any]) -> ProviderRequest:
    if not overrides:
        return request
    passed = read_passthrough(overrides)
    request = request.merged(body=provider.body_overrides(overrides), headers={}, query={})
    return request.merged(body=passed.body, headers=passed.headers, query=passed.query)


def _judge(provider: AnyProvider, answer: ProviderAnswer) -> Ruling | None:
    """Why the answer is a refusal, or None where it is none."""
    for verdict in provider.failures:
        ruling = verdict(answer)
        if ruling is not None:
            return ruling
    if not answer.is_success:
        return kind_of_status(answer.status)
    return None if provider.accepts(answer) else FailureKind.PERMANENT


def _read_sent(provider: AnyProvider, answer: ProviderAnswer, handed: Handed) -> Sent:
    found = provider.sent(answer, handed)
    if isinstance(found, Sent):
        return found if found.raw is not None else replace(found, raw=_raw(answer))
    if found is None:
        sentence = f"{provider.name} answered {answer.status} without the id of the message"
        raise ambiguous(SendFailure(FailureKind.RETRYABLE, sentence, raw=_raw(answer)))
    return Sent(provider_message_id=found, raw=_raw(answer))


def _refusal(provider: AnyProvider, answer: ProviderAnswer, kind: FailureKind) -> SendFailure:
    sentence = f"{provider.name} answered {answer.status}: {sentence_of(answer)}"
    retry_after = answer.retry_after
    if retry_after is None:
        retry_after = provider.patience(answer)
    return SendFailure(kind, sentence, retry_after=retry_after, raw=_raw(answer))


def _raw(answer: ProviderAnswer) -> dict[str, Any]:
    return {"status": answer.status, "body": answer.text}
