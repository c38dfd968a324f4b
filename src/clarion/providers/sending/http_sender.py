"""Sending through providers with an HTTP API: access tokens, signatures and overrides of triggers."""

import asyncio
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from msgspec.structs import replace

from clarion.clock import Clock
from clarion.providers.definition.credentials import Credentials, read_credentials
from clarion.providers.definition.outgoing import Outgoing, always
from clarion.providers.definition.overrides import read_passthrough
from clarion.providers.definition.provider import HttpProvider
from clarion.providers.definition.receipts import (
    Callback,
    ProviderReply,
    Receipt,
    ReceiptForged,
    ReceiptRefused,
    RequestFlow,
    run_flow,
)
from clarion.providers.definition.request import ProviderCall, ProviderRequest, check_sizes, encode_call
from clarion.providers.definition.result import (
    ACCOUNT_REFUSED,
    ALREADY_SENT,
    REFUSED_ACCOUNT_STATUSES,
    Classification,
    FailureKind,
    ProviderAnswer,
    SendContext,
    SendFailure,
    Sent,
    classify_status,
    mark_ambiguous,
    read_error_text,
)
from clarion.providers.sending.accounts import Accounts, TokenCache
from clarion.providers.transport.apprise_client import APPRISE_URL, AppriseClient
from clarion.providers.transport.http_clients import HttpClients
from clarion.secret import Secret

T = TypeVar("T")
AnyProvider = HttpProvider[Any, Any]
MAX_LOOP_CHARACTERS = 32 * 1024
_MAX_CONCURRENT_PARTS = 10


class HttpSender:
    """Makes the calls of all HTTP providers; one per process."""

    def __init__(self, clients: HttpClients, apprise: AppriseClient, accounts: Accounts, clock: Clock) -> None:
        self._clients = clients
        self._apprise = apprise
        self._accounts = accounts
        self._clock = clock
        self._tokens = TokenCache(self.call, clock)

    async def send(self, provider: AnyProvider, outgoing: Outgoing) -> Sent:
        account = self._accounts.read(provider.credentials, outgoing.credentials)
        now = self._clock.now()
        message = await run_by_size(outgoing, lambda: provider.read_message(outgoing, account, now))
        slots = asyncio.Semaphore(_MAX_CONCURRENT_PARTS)

        async def send_part(part: Any) -> Sent | SendFailure:
            try:
                async with slots:
                    return await self._send_part(provider, account, part, outgoing)
            except SendFailure as failure:
                return failure

        parts = provider.parts(message)
        if len(parts) == 1:
            # The common case needs no extra task.
            results = [await send_part(part) for part in parts.values()]
        else:
            results = await asyncio.gather(*map(send_part, parts.values()))
        return provider.join(dict(zip(parts, results, strict=True)))

    async def check(self, provider: AnyProvider, credentials: Mapping[str, Any]) -> None:
        """Test the credentials; raises SendFailure with the provider's error text if they do not work."""
        account = read_credentials(provider.credentials, credentials)
        if provider.check is None:
            if provider.token is not None and provider.token.is_needed(account):
                await self._tokens.get_token(provider.id, provider.token, account)
            return
        request = provider.check(account)
        if request is None:
            return
        answer = await self._call_as_account(provider, account, request)
        if not provider.check_passes(answer):
            found = _classify(provider, answer)
            raise _make_failure(provider, answer, found if isinstance(found, FailureKind) else FailureKind.PERMANENT)

    async def read_receipts(
        self, provider: AnyProvider, credentials: Mapping[str, Any], callback: Callback
    ) -> tuple[list[Receipt], ProviderReply | None]:
        """Return the receipts of a webhook call, or the reply that the provider requires; raises ReceiptRefused."""
        if provider.receipts is None:
            raise ReceiptRefused(f"{provider.name} reports nothing")
        account = read_credentials(provider.credentials, credentials)
        try:
            reply = provider.receipts.handshake(callback, account)
            if reply is not None:
                return [], reply
            if not await self._run_flow(provider.receipts.is_genuine(callback, account)):
                raise ReceiptForged(f"The report is not signed as {provider.name} signs")
            return await self._run_flow(provider.receipts.parse(callback)), None
        # Anybody can call with a body of any shape.
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise ReceiptRefused(f"The report is not one of {provider.name}") from error

    async def fetch_receipts(
        self, provider: AnyProvider, credentials: Mapping[str, Any], tickets: Sequence[str]
    ) -> list[Receipt]:
        """Fetch the receipts that are available for these tickets; raises SendFailure if there is no answer."""
        if provider.receipt_query is None:
            return []
        account = read_credentials(provider.credentials, credentials)
        answer = await self._call_as_account(provider, account, provider.receipt_query.request(account, tickets))
        if not answer.is_success:
            raise _make_failure(provider, answer, classify_status(answer.status))
        return provider.receipt_query.read(answer)

    async def register_receipts(self, provider: AnyProvider, credentials: Mapping[str, Any], url: str) -> Secret | None:
        """Have the provider report to a URL; returns the key of its signatures, None if it has no API for that."""
        if provider.receipts is None or provider.receipts.register is None:
            return None
        account = read_credentials(provider.credentials, credentials)
        flow: RequestFlow[Secret] = provider.receipts.register(account, url)
        return await self._run_flow(flow, provider, account)

    async def _send_part(self, provider: AnyProvider, account: Credentials, part: Any, outgoing: Outgoing) -> Sent:
        change = outgoing.change
        request = await self._run_flow(provider.make_request(account, part, change), provider, account)
        request = add_overrides(provider, request, outgoing.overrides)
        if provider.takes_trace and outgoing.trace_headers:
            request = replace(request, headers={**request.headers, **outgoing.trace_headers})
        if provider.sizes is not None:
            check_sizes(provider.name, provider.sizes(request))
        answer = await self._call_as_account(provider, account, request, outgoing.can_start)
        if change is not None and provider.edits is not None and provider.edits.is_done(answer, change.kind):
            return Sent(provider_message_id=change.sent.provider_message_id, raw=_raw(answer))
        classification = _classify(provider, answer)
        if classification is None and change is not None:
            # What answers a change says nothing new of the message.
            return Sent(provider_message_id=change.sent.provider_message_id, raw=_raw(answer))
        if classification is None:
            return _read_sent(provider, answer, SendContext(account, part))
        if classification == ALREADY_SENT:
            return Sent(provider_message_id=outgoing.message_id, raw=_raw(answer))
        raise _make_failure(provider, answer, classification)

    async def _run_flow(
        self, flow: T | RequestFlow[T], provider: AnyProvider | None = None, account: Credentials | None = None
    ) -> T:
        """Return a plain value as it is; run a flow by making the calls that it yields, and return its result."""
        if not isinstance(flow, Generator):
            return flow
        # Calls that verify receipts are made without the token and signature of the account.
        if provider is None or account is None:
            return await run_flow(flow, self.call)
        return await run_flow(flow, partial(self._call_as_account, provider, account))

    async def _call_as_account(
        self,
        provider: AnyProvider,
        account: Credentials,
        request: ProviderRequest,
        can_start: Callable[[], bool] = always,
    ) -> ProviderAnswer:
        """Make a call with the access token of the account; after a 401, fetch a new token and retry once."""
        exchange = provider.token
        call = encode_call(request, can_start, auth=provider.auth(account))
        if exchange is None or not request.takes_token or not exchange.is_needed(account):
            return await self._sign_and_call(provider, account, call)
        token = await self._tokens.get_token(provider.id, exchange, account)
        answer = await self._sign_and_call(provider, account, call.with_auth(exchange.auth(account, token)))
        if answer.status != 401:
            return answer
        self._tokens.discard(provider.id, account)
        token = await self._tokens.get_token(provider.id, exchange, account)
        return await self._sign_and_call(provider, account, call.with_auth(exchange.auth(account, token)))

    async def _sign_and_call(self, provider: AnyProvider, account: Credentials, call: ProviderCall) -> ProviderAnswer:
        if provider.sign is not None:
            call = call.with_auth(provider.sign(account, call, self._clock.now()))
        if provider.can_use_apprise and call.url == APPRISE_URL:
            return await self._apprise.call(call)
        client = self._clients.http2 if provider.is_http2 else self._clients.http1
        return await client.call(call)

    async def call(self, request: ProviderRequest) -> ProviderAnswer:
        """Make any call through the egress guard; raises SendFailure if there is no answer."""
        return await self.call_encoded(encode_call(request))

    async def call_encoded(self, call: ProviderCall) -> ProviderAnswer:
        """The same for a request that is encoded already."""
        return await self._clients.http1.call(call)

    async def check_url(self, url: str) -> None:
        """Raise SendFailure if the URL can never be called."""
        await self._clients.http1.check(url)

    async def close(self) -> None:
        await self._clients.close()


def add_overrides(provider: AnyProvider, request: ProviderRequest, overrides: Mapping[str, Any]) -> ProviderRequest:
    """The request with what the trigger wants of the provider."""
    if not overrides:
        return request
    passthrough = read_passthrough(overrides)
    request = request.merged(body=provider.body_overrides(overrides), headers={}, query={}, merge=provider.merge)
    return request.merged(
        body=passthrough.body, headers=passthrough.headers, query=passthrough.query, merge=provider.merge
    )


async def run_by_size(outgoing: Outgoing, prepare: Callable[[], T]) -> T:
    """Prepare a message in the event loop, or in a thread if its content is large."""
    if len(outgoing.content) <= MAX_LOOP_CHARACTERS:
        return prepare()
    return await asyncio.to_thread(prepare)


def _classify(provider: AnyProvider, answer: ProviderAnswer) -> Classification | None:
    """Return the kind of an error answer, or None for a success."""
    for classify in provider.failures:
        classification = classify(answer)
        if classification is not None:
            return classification
    if not answer.is_success:
        return classify_status(answer.status)
    return None if provider.accepts(answer) else FailureKind.PERMANENT


def _read_sent(provider: AnyProvider, answer: ProviderAnswer, context: SendContext) -> Sent:
    sent = provider.sent(answer, context)
    place = None if provider.edits is None else provider.edits.read_place(answer, context)
    if isinstance(sent, Sent):
        return sent if sent.raw is not None else replace(sent, raw=_raw(answer))
    if sent is None:
        sentence = f"{provider.name} answered {answer.status} without the id of the message"
        raise mark_ambiguous(SendFailure(FailureKind.RETRYABLE, sentence, raw=_raw(answer)))
    return Sent(provider_message_id=sent, raw=_raw(answer), place=place)


def _make_failure(provider: AnyProvider, answer: ProviderAnswer, classification: Classification) -> SendFailure:
    sentence = f"{provider.name} answered {answer.status}: {read_error_text(answer)}"
    retry_after = answer.retry_after
    if retry_after is None:
        retry_after = provider.read_retry_after(answer)
    kind = FailureKind.PERMANENT if classification == ACCOUNT_REFUSED else FailureKind(classification)
    failure = SendFailure(kind, sentence, retry_after=retry_after, raw=_raw(answer))
    failure.is_account_refused = classification == ACCOUNT_REFUSED or (
        kind is FailureKind.PERMANENT and answer.status in REFUSED_ACCOUNT_STATUSES
    )
    return failure


def _raw(answer: ProviderAnswer) -> dict[str, Any]:
    return {"status": answer.status, "body": answer.text}
