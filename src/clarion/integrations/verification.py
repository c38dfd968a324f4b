"""Verifies integrations: checks credentials with the provider and sends test messages; stores nothing."""

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET

from clarion.content.environment import EnvironmentContent, load_environment_content
from clarion.db.port import Connection
from clarion.errors import Forbidden, InProgress, Invalid
from clarion.http import idempotency
from clarion.http.operation import DetachedCall
from clarion.ids import IntegrationId, SubscriberKey, id_text, new_id
from clarion.integrations import store
from clarion.integrations.actions import get_live
from clarion.integrations.model import Integration
from clarion.integrations.variables import resolve_credentials
from clarion.integrations.wire import TestMessageError, TestMessageIn, TestMessageOut
from clarion.jsontext import plain_value
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.provider import BuiltinProvider
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.registry import find_provider
from clarion.providers.sending.gateway import ProviderGateway
from clarion.subscribers.addresses.targets import find_target
from clarion.subscribers.channels import list_channels
from clarion.subscribers.store import get_subscriber
from clarion.vault import Vault
from clarion.vocabulary import Channel, Scope

# A chat has no entry: which address it needs depends on its provider, which reports a missing one.
_ADDRESSES = {Channel.EMAIL: "email", Channel.SMS: "phone", Channel.PUSH: "deviceTokens"}
_OUTSIDE_ENTRY = frozenset({"email", "phone", "webhookUrl", "deviceTokens"})


async def has_stored_response(call: DetachedCall) -> bool:
    """Return whether idempotency has a response for this request; it is sent again without asking the provider."""
    text = call.request.headers.get(b"idempotency-key", b"").decode("latin-1").strip()
    if not text:
        return False
    request, services = call.request, call.services
    key = idempotency.make_key(
        text, environment_id=call.environment_id, method=request.method, path=request.path, content=b""
    )
    stored = await call.database.transaction(
        lambda db: idempotency.find_responses(db, [key], services.vault, services.clock.now(), services.settings)
    )
    response = stored.get(key.digest)
    if isinstance(response, InProgress):
        raise response
    return response is not None


async def load_live(call: DetachedCall) -> tuple[list[Integration], EnvironmentContent]:
    """The live integrations, and the variables that their credentials may refer to."""
    environment_id, vault = call.environment_id, call.services.vault

    async def load(db: Connection) -> tuple[list[Integration], EnvironmentContent]:
        live = await store.list_integrations(db, environment_id, vault)
        return live, await load_environment_content(db, environment_id, vault=vault)

    return await call.database.read(load)


async def check_credentials(gateway: ProviderGateway, integration: Integration) -> None:
    """Check the credentials with the provider; raises Invalid with its message if it refuses them."""
    if _is_built_in(integration):
        return
    try:
        await gateway.check(integration.provider_id, integration.credentials)
    except SendFailure as failure:
        # The error leaves out the value: a secret that does not work is still a secret.
        raise Invalid.field("credentials", _refusal(failure)) from failure


async def send_test_message(call: DetachedCall, integration_id: IntegrationId, body: TestMessageIn) -> TestMessageOut:
    live, content = await load_live(call)
    integration = resolve_credentials(get_live(live, integration_id), content)
    if _is_built_in(integration):
        raise Invalid.field("integrationId", "is of a built-in provider, whose messages go nowhere that could be tried")
    recipient = await _list_addresses(call, integration, body)
    needed = _ADDRESSES.get(integration.channel)
    if needed is not None and not recipient.get(needed):
        raise Invalid.field(f"to.{needed}", f"is missing; {_address_hint(integration)}")
    outgoing = _outgoing(integration, recipient, body, message_id=id_text(new_id(call.now)))
    result = await send_once(call, integration, outgoing)
    error = result.error
    if needed is None and error and error.kind is FailureKind.RECIPIENT_INVALID and result.answer is UNSET:
        # Nothing was sent: the chat provider lacks an address.
        raise Invalid.field("to", f"is not enough: {error.message}; {_address_hint(integration)}")
    return result


async def send_once(call: DetachedCall, integration: Integration, outgoing: Outgoing) -> TestMessageOut:
    """Send a message without trying again, and return what the provider answers."""
    started = call.now
    try:
        sent = await call.services.gateway.send(integration.provider_id, outgoing)
    except SendFailure as failure:
        return _failed(failure, milliseconds=call.now - started)
    return TestMessageOut(
        success=True,
        provider_message_id=sent.provider_message_id or UNSET,
        answer=UNSET if sent.raw is None else sent.raw,
        milliseconds=call.now - started,
    )


async def _list_addresses(call: DetachedCall, integration: Integration, body: TestMessageIn) -> Mapping[str, Any]:
    """Return addresses by their name in the API: the subscriber's, overridden by those of the body."""
    given: dict[str, Any] = plain_value(body.to)
    if body.subscriber_id is None:
        return given
    if not call.caller.has_scope(Scope.SUBSCRIBERS_READ):
        raise Forbidden(f"This API key lacks the scope '{Scope.SUBSCRIBERS_READ}', which subscriberId needs")
    key = SubscriberKey(str(body.subscriber_id))
    vault = call.services.vault
    stored = await call.database.read(lambda db: _read_addresses(db, integration, key, vault))
    return {**stored, **given}


async def _read_addresses(db: Connection, integration: Integration, key: SubscriberKey, vault: Vault) -> dict[str, Any]:
    environment_id, integration_id = integration.environment_id, integration.id
    subscriber = await get_subscriber(db, environment_id, key)
    if integration.channel is Channel.TOOL:
        target = await find_target(db, environment_id, subscriber.id, integration_id, vault)
        return {} if target is None else {**target.entry.credentials, "webhookUrl": target.webhook_url}
    entries = (await list_channels(db, environment_id, [subscriber.id])).get(subscriber.id, [])
    entry = next((one.credentials for one in entries if one.integration_id == integration_id), {})
    return {**entry, "email": subscriber.email, "phone": subscriber.phone}


def _outgoing(
    integration: Integration, recipient: Mapping[str, Any], body: TestMessageIn, *, message_id: str
) -> Outgoing:
    return Outgoing(
        message_id=message_id,
        channel=integration.channel,
        content=body.content,
        subject=body.subject,
        title=body.subject,
        email=recipient.get("email"),
        phone=recipient.get("phone"),
        webhook_url=recipient.get("webhookUrl"),
        device_tokens=tuple(recipient.get("deviceTokens") or ()),
        entry={name: value for name, value in recipient.items() if name not in _OUTSIDE_ENTRY},
        credentials=integration.credentials,
    )


def _failed(failure: SendFailure, *, milliseconds: int) -> TestMessageOut:
    error = TestMessageError(
        kind=failure.kind,
        message=failure.message,
        retry_after=UNSET if failure.retry_after is None else failure.retry_after,
    )
    answer = UNSET if failure.raw is None else failure.raw
    return TestMessageOut(success=False, answer=answer, error=error, milliseconds=milliseconds)


def _is_built_in(integration: Integration) -> bool:
    return isinstance(find_provider(integration.provider_id), BuiltinProvider)


def _refusal(failure: SendFailure) -> str:
    if failure.kind in (FailureKind.RETRYABLE, FailureKind.RATE_LIMITED, FailureKind.NO_CONNECTION):
        return f"could not be tried out: {failure.message}; try again later, or leave check out"
    return f"are not accepted: {failure.message}"


def _address_hint(integration: Integration) -> str:
    if integration.channel is Channel.TOOL:
        return "give the subscriberId of somebody who has a channel endpoint of this integration"
    if integration.channel in (Channel.EMAIL, Channel.SMS):
        return "give it, or the subscriberId of somebody who has one"
    return "give it, or the subscriberId of somebody who has credentials for this integration"
