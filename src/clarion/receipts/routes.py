"""Reports of providers: the address for them, and where they arrive."""

from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from clarion.errors import Malformed, NotFound, Unauthenticated
from clarion.http.operation import OutsideCall, RawReply, operation
from clarion.ids import EnvironmentId, IntegrationId, find_id, id_text
from clarion.integrations.callbacks import PATH, receipts_tokens, receipts_url
from clarion.integrations.model import Integration
from clarion.providers.definition.kinds import HttpProvider
from clarion.providers.definition.receipts import (
    Callback,
    Receipt,
    ReceiptForged,
    ReceiptRefused,
    Reply,
    by_token,
    is_same,
)
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.registry import find_provider
from clarion.providers.sending.redaction import make_account_redactor
from clarion.receipts import actions, store
from clarion.receipts.model import read_report
from clarion.receipts.wire import ReceiptsAddressOut
from clarion.secret import Secret
from clarion.vocabulary import Scope

_PATH = PATH + "/{environmentId}/{integrationId}"
# With an empty body, for there are providers that take any words for a failure.
_THANKS = RawReply(200, b"text/plain", b"")
_LATER = RawReply(503, b"text/plain", b"The report cannot be checked now; send it again later")


@operation("GET", "/v1/integrations/{integrationId}/receipts-address", scope=Scope.INTEGRATIONS_WRITE)
async def get_receipts_address(call: OutsideCall, integration_id: IntegrationId) -> ReceiptsAddressOut:
    """Retrieve the address that the provider of an integration is to report to.

    `signedWith` says what proves its reports. The token in the address proves them where that is empty: keep it secret.
    """
    integration = await _get_integration(call, id_text(call.environment_id), id_text(integration_id))
    url = receipts_url(_origin(call), call.services.vault, integration.environment_id, integration.id)
    return ReceiptsAddressOut(url=url, signed_with=_signed_with(integration) or "")


@operation("POST", _PATH, scope=None)
async def receive_receipts(call: OutsideCall, environment_id: str, integration_id: str) -> RawReply:
    """Take what a provider reports of messages, when it is signed as the provider signs."""
    return await _receive(call, environment_id, integration_id)


@operation("GET", _PATH, scope=None)
async def receive_receipt(call: OutsideCall, environment_id: str, integration_id: str) -> RawReply:
    """Take a report that is written into the query, or answer the challenge of a provider."""
    return await _receive(call, environment_id, integration_id)


@operation("HEAD", _PATH, scope=None)
async def answer_receipts_probe(call: OutsideCall, environment_id: str, integration_id: str) -> RawReply:
    """Tell a provider that somebody is there."""
    return await _receive(call, environment_id, integration_id)


async def _receive(call: OutsideCall, environment_id: str, integration_id: str) -> RawReply:
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
        return RawReply(reply.status, reply.content_type.encode(), reply.body.encode())
    try:
        redact = _redaction(integration, callback)
        reports = [read_report(one, integration, redact, now) for one in receipts]
    except RecursionError:
        raise Malformed("The report is nested too deep") from None
    if reports:
        await actions.record_reports(call.database, integration, reports, now)
    return _THANKS


def _find_source(integration: Integration, callback: Callback) -> str | None:
    """Which of the provider's customers speaks, where the signature is the same for all of them.

    Such a provider has to be told the token, and only the customer who reported first is heard.
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


async def _read(call: OutsideCall, integration: Integration, callback: Callback) -> tuple[list[Receipt], Reply | None]:
    try:
        return await call.services.gateway.read_receipts(integration.provider_id, integration.credentials, callback)
    except ReceiptForged as error:
        raise Unauthenticated(str(error)) from None
    except ReceiptRefused as error:
        raise Malformed(str(error)) from None
    except RecursionError:
        raise Malformed("The report is nested too deep") from None


async def _get_integration(call: OutsideCall, environment_text: str, integration_text: str) -> Integration:
    """The integration, if it is there and its provider reports; which of both is not the case is not told."""
    environment_id, integration_id = find_id(environment_text), find_id(integration_text)
    integration = None
    if environment_id is not None and integration_id is not None:
        ids = EnvironmentId(environment_id), IntegrationId(integration_id)
        integration = await call.database.read(lambda db: store.find_integration(db, *ids, call.services.vault))
    if integration is None or _signed_with(integration) is None:
        raise NotFound("Integration", integration_text)
    return integration


def _signed_with(integration: Integration) -> str | None:
    """What proves the reports of its provider; None where it reports nothing."""
    provider = find_provider(integration.provider_id)
    return provider.receipts.signed_with if isinstance(provider, HttpProvider) and provider.receipts else None


def _callback(call: OutsideCall, integration: Integration) -> Callback:
    request = call.request
    pairs = parse_qsl(request.query.decode("utf-8", errors="replace"), keep_blank_values=True)
    # The first of a name, which is ours: providers add theirs behind it.
    query = dict(reversed(pairs))
    target = request.path + (b"?" + request.query if request.query else b"")
    return Callback(
        method=request.method,
        url=_origin(call) + target.decode("latin-1"),
        query=query,
        headers={name.decode("latin-1"): value.decode("latin-1") for name, value in request.headers.items()},
        body=request.body,
        received_at=call.now,
        token=_token(call, integration, query.get("token", "")),
    )


def _token(call: OutsideCall, integration: Integration, given: str) -> Secret:
    """The token that the address must hold: of those that are right, the one that it does hold."""
    tokens = receipts_tokens(call.services.vault, integration.environment_id, integration.id)
    return Secret(next((one for one in tokens if is_same(given, one)), tokens[0]))


def _origin(call: OutsideCall) -> str:
    """Where we were called, as the caller knows it: providers sign the whole address."""
    if call.services.settings.public_url is not None:
        return call.services.settings.public_url.rstrip("/")
    headers = call.request.headers
    scheme = headers.get(b"x-forwarded-proto", b"http").partition(b",")[0].strip()
    host = headers.get(b"x-forwarded-host", headers.get(b"host", b"")).partition(b",")[0].strip()
    return f"{scheme.decode('latin-1')}://{host.decode('latin-1')}"


def _redaction(integration: Integration, callback: Callback) -> Callable[[Any], Any]:
    """Reports may repeat what is secret: credentials, and the token of a report that is a query."""
    token = callback.query.get("token", "")
    url = f"https://token/?token={token}"
    return make_account_redactor(integration.channel, integration.credentials, receipts_url=url)
