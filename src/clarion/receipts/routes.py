"""Receipts: the URL that providers report to, and the operations that receive their reports."""

from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from clarion.errors import Malformed, NotFound, Unauthenticated
from clarion.http.operation import DetachedCall, Transaction, operation
from clarion.http.responses import RawResponse
from clarion.http.wire import Wire
from clarion.ids import EnvironmentId, IntegrationId, find_id, id_text
from clarion.integrations.callbacks import PATH, find_origin, receipts_tokens, receipts_url
from clarion.integrations.model import Integration
from clarion.providers.definition.provider import HttpProvider
from clarion.providers.definition.receipts import (
    Callback,
    InboundText,
    ProviderReply,
    Receipt,
    ReceiptForged,
    ReceiptRefused,
    by_token,
    is_same,
)
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.registry import find_provider
from clarion.providers.sending.redaction import make_account_redactor
from clarion.receipts import actions, store
from clarion.receipts.inbound import record_texts
from clarion.receipts.model import read_report
from clarion.secret import Secret
from clarion.vocabulary import Scope

_PATH = PATH + "/{environmentId}/{integrationId}"
# With an empty body, because some providers take any text for an error.
_THANKS = RawResponse(200, b"text/plain", b"")
_LATER = RawResponse(503, b"text/plain", b"The report cannot be checked now; send it again later")


class ReceiptsAddressOut(Wire):
    url: str
    """The address to give to the provider for its reports of deliveries."""
    signed_with: str
    """How reports are known to be the provider's."""


@operation(
    "GET",
    "/v1/integrations/{integrationId}/receipts-address",
    scope=Scope.INTEGRATIONS_WRITE,
    transaction=Transaction.NONE,
)
async def get_receipts_address(call: DetachedCall, integration_id: IntegrationId) -> ReceiptsAddressOut:
    """Retrieve the URL to which the provider of an integration sends its reports.

    `signedWith` names the secret that signs the reports. If it is empty, the token in the URL authenticates them: keep
    it secret.
    """
    integration = await _get_integration(call, id_text(call.environment_id), id_text(integration_id))
    url = receipts_url(find_origin(call), call.services.vault, integration.environment_id, integration.id)
    return ReceiptsAddressOut(url=url, signed_with=_signed_with(integration) or "")


@operation("POST", _PATH, public=True, transaction=Transaction.NONE, foreign=True)
async def receive_receipts(call: DetachedCall, environment_id: str, integration_id: str) -> RawResponse:
    """Receive a provider's reports about messages; their signature is verified."""
    return await _receive(call, environment_id, integration_id)


@operation("GET", _PATH, public=True, transaction=Transaction.NONE, foreign=True)
async def receive_receipt(call: DetachedCall, environment_id: str, integration_id: str) -> RawResponse:
    """Receive a report in the query string, or answer a provider's challenge."""
    return await _receive(call, environment_id, integration_id)


@operation("HEAD", _PATH, public=True, transaction=Transaction.NONE, foreign=True)
async def answer_receipts_probe(call: DetachedCall, environment_id: str, integration_id: str) -> RawResponse:
    """Answer a provider's check that the URL exists."""
    return await _receive(call, environment_id, integration_id)


async def _receive(call: DetachedCall, environment_id: str, integration_id: str) -> RawResponse:
    integration = await _get_integration(call, environment_id, integration_id)
    now = call.now
    callback = _callback(call, integration)
    source = _find_source(integration, callback)
    try:
        receipts, reply = await _read(call, integration, callback)
    except SendFailure as error:
        if error.kind is FailureKind.PERMANENT:
            raise Malformed("The integration lacks the credentials that reports are checked by") from None
        return _LATER
    if source is not None and integration.reports_from is None:
        set_source = partial(store.set_source, integration=integration, source=source)
        _check_source(await call.database.transaction(set_source), source)
    if reply is not None:
        return RawResponse(reply.status, reply.content_type.encode(), reply.body.encode())
    try:
        redact = _redaction(integration, callback)
        reports = [read_report(one, integration, redact, now) for one in receipts]
    except RecursionError:
        raise Malformed("The report is nested too deep") from None
    texts = _read_texts(integration, callback)
    if texts:
        await record_texts(call.database, integration, texts, now)
    if reports:
        await actions.record_reports(call.database, integration, reports, now, tracer=call.services.tracer)
    return _THANKS


def _find_source(integration: Integration, callback: Callback) -> str | None:
    """Return the provider's customer that reports, if the provider signs alike for all of its customers.

    Reports of such a provider need the token too, and only the customer that reported first is accepted.
    """
    provider = find_provider(integration.provider_id)
    receipts = provider.receipts if isinstance(provider, HttpProvider) else None
    if receipts is None or receipts.source is None:
        return None
    if not by_token(callback, None):
        raise Unauthenticated("The address lacks the token of the integration")
    try:
        source = receipts.source(callback)
    except ReceiptRefused as error:
        raise Malformed(str(error)) from None
    _check_source(integration.reports_from or source, source)
    return source


def _check_source(known: str | None, source: str) -> None:
    if known != source:
        raise Unauthenticated(
            f"Only {known} reports to this address; save the integration's credentials again to change that"
        )


async def _read(
    call: DetachedCall, integration: Integration, callback: Callback
) -> tuple[list[Receipt], ProviderReply | None]:
    try:
        return await call.services.gateway.read_receipts(integration.provider_id, integration.credentials, callback)
    except ReceiptForged as error:
        raise Unauthenticated(str(error)) from None
    except ReceiptRefused as error:
        raise Malformed(str(error)) from None
    except RecursionError:
        raise Malformed("The report is nested too deep") from None


def _read_texts(integration: Integration, callback: Callback) -> list[InboundText]:
    """Return what people sent, from a call that is known to be the provider's."""
    provider = find_provider(integration.provider_id)
    receipts = provider.receipts if isinstance(provider, HttpProvider) else None
    return [] if receipts is None else receipts.inbound(callback)


async def _get_integration(call: DetachedCall, environment_text: str, integration_text: str) -> Integration:
    """Return the integration; NotFound does not reveal whether it is missing or its provider sends no reports."""
    environment_id, integration_id = find_id(environment_text), find_id(integration_text)
    integration = None
    if environment_id is not None and integration_id is not None:
        ids = EnvironmentId(environment_id), IntegrationId(integration_id)
        integration = await call.database.read(lambda db: store.find_integration(db, *ids, call.services.vault))
    if integration is None or _signed_with(integration) is None:
        raise NotFound("Integration", integration_text)
    return integration


def _signed_with(integration: Integration) -> str | None:
    """Return what signs the provider's reports; None if the provider sends none."""
    provider = find_provider(integration.provider_id)
    return provider.receipts.signed_with if isinstance(provider, HttpProvider) and provider.receipts else None


def _callback(call: DetachedCall, integration: Integration) -> Callback:
    request = call.request
    pairs = parse_qsl(request.query.decode("utf-8", errors="replace"), keep_blank_values=True)
    # The first value of a name is ours: providers append theirs.
    query = dict(reversed(pairs))
    target = request.path + (b"?" + request.query if request.query else b"")
    return Callback(
        method=request.method,
        url=find_origin(call) + target.decode("latin-1"),
        query=query,
        headers={name.decode("latin-1"): value.decode("latin-1") for name, value in request.headers.items()},
        body=request.body,
        received_at=call.now,
        token=_token(call, integration, query.get("token", "")),
    )


def _token(call: DetachedCall, integration: Integration, given: str) -> Secret:
    """Return the valid token that the URL has, or the current one to compare with."""
    tokens = receipts_tokens(call.services.vault, integration.environment_id, integration.id)
    return Secret(next((one for one in tokens if is_same(given, one)), tokens[0]))


def _redaction(integration: Integration, callback: Callback) -> Callable[[Any], Any]:
    """Return the redaction of credentials and of the URL's token, which reports may contain."""
    token = callback.query.get("token", "")
    url = f"https://token/?token={token}"
    return make_account_redactor(integration.channel, integration.credentials, receipts_url=url)
