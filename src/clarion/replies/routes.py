"""The address at which providers hand over inbound mail, and the operation that takes it."""

import asyncio
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qsl

from clarion.content.environment import load_environment_content
from clarion.content.links import LinkSecret
from clarion.errors import Malformed, NotFound, Unauthenticated
from clarion.http.limits import LARGE_BODY
from clarion.http.operation import DetachedCall, Transaction, operation
from clarion.http.responses import RawResponse
from clarion.http.wire import Wire
from clarion.ids import EnvironmentId, IntegrationId, find_id, id_text
from clarion.integrations.callbacks import find_origin
from clarion.integrations.model import Integration
from clarion.monitoring.metrics import ReplyOutcome
from clarion.providers.definition.receipts import Callback, ReceiptRefused, is_same
from clarion.providers.definition.request import ProviderRequest
from clarion.providers.definition.result import SendFailure
from clarion.providers.signing.amazon import is_confirmation_url, is_signed_by_sns
from clarion.receipts import store
from clarion.replies.actions import MailReply, ReplyLimit, record_reply
from clarion.replies.inbound.forms import ArrivedMail, read_mails
from clarion.replies.inbound.mime import MailUnreadable
from clarion.replies.model import find_message
from clarion.vault import Vault
from clarion.vocabulary import Channel, Scope

SECTION = "Integrations"
PATH: Final = "/v2/inbound-webhooks/mail"
_SES: Final = "ses"
# With an empty body, because some providers take any text for an error.
_THANKS: Final = RawResponse(200, b"text/plain", b"")


class RepliesAddressOut(Wire):
    url: str
    """The address to give to the provider for inbound mail; keep it secret."""


@operation(
    "GET",
    "/v1/integrations/{integrationId}/replies-address",
    scope=Scope.INTEGRATIONS_WRITE,
    transaction=Transaction.NONE,
)
async def get_replies_address(call: DetachedCall, integration_id: IntegrationId) -> RepliesAddressOut:
    """Retrieve the URL to which the provider of an e-mail integration hands over mail that comes in.

    The token in the URL authenticates the provider.
    """
    integration = await _get_integration(call, id_text(call.environment_id), id_text(integration_id))
    ids = id_text(integration.environment_id), id_text(integration.id)
    token = _tokens(call.services.vault, *ids)[0]
    path = f"{PATH}/{'/'.join(ids)}"
    return RepliesAddressOut(url=f"{find_origin(call)}{path}?token={token}")


@operation(
    "POST",
    PATH + "/{environmentId}/{integrationId}",
    public=True,
    transaction=Transaction.NONE,
    foreign=True,
    body_limit=LARGE_BODY,
)
async def receive_mail(call: DetachedCall, environment_id: str, integration_id: str) -> RawResponse:
    """Take mail that came in at a provider. What replies to no message of the environment is dropped."""
    callback = _callback(call)
    # Before the store is asked: who has no token cannot load it.
    tokens = _tokens(call.services.vault, environment_id, integration_id)
    if not any(is_same(callback.query.get("token", ""), one) for one in tokens):
        raise NotFound("Integration", integration_id)
    integration = await _get_integration(call, environment_id, integration_id)
    try:
        if integration.provider_id == _SES and not await _is_notification(call, callback):
            return _THANKS
        mails = await asyncio.to_thread(read_mails, integration.provider_id, callback)
    except ReceiptRefused as error:
        raise Malformed(str(error)) from None
    vault, ids = call.services.vault, integration.environment_id
    content = await call.database.read(partial(load_environment_content, environment_id=ids, vault=vault))
    for mail in mails:
        try:
            outcome = await _take(call, content.link_secret, mail)
        except MailUnreadable:
            outcome = ReplyOutcome.UNREADABLE
        call.services.measures.replies[outcome] += 1
    return _THANKS


async def _take(call: DetachedCall, secret: LinkSecret | None, arrived: ArrivedMail) -> ReplyOutcome:
    """Record a mail. One whose provider tells to whom it was delivered is read only if that is one of ours."""
    if secret is None:
        return ReplyOutcome.UNKNOWN
    # Outside the event loop: to read a mail can take a second.
    mail = None if arrived.recipients else await asyncio.to_thread(arrived.read)
    message_id = find_message(secret, arrived.recipients if mail is None else mail.list_recipients())
    if message_id is None:
        return ReplyOutcome.UNKNOWN
    if not call.services.shared.get(ReplyLimit).admit(message_id, call.now):
        return ReplyOutcome.LIMITED
    if mail is None:
        mail = await asyncio.to_thread(arrived.read)
    reply = MailReply(environment_id=secret.environment_id, message_id=message_id, mail=mail)
    return await call.database.transaction(partial(record_reply, reply=reply, vault=call.services.vault, now=call.now))


async def _is_notification(call: DetachedCall, callback: Callback) -> bool:
    """Check the signature of a notification of Amazon; a subscription is confirmed."""
    events = callback.events()
    gateway = call.services.gateway
    flow = is_signed_by_sns(callback, None)
    is_genuine = False
    try:
        request = next(flow)
        flow.send(await gateway.call(request))
    except StopIteration as end:
        is_genuine = bool(end.value)
    except SendFailure:
        raise Malformed("The certificate of the notification cannot be fetched; send it again later") from None
    if not is_genuine:
        raise Unauthenticated("The notification is not signed by Amazon SNS")
    notification: Any = events[0]
    address, topic = str(notification.get("SubscribeURL")), str(notification.get("TopicArn"))
    if notification.get("Type") == "SubscriptionConfirmation" and is_confirmation_url(address, topic):
        await gateway.call(ProviderRequest.get(address))
    return bool(notification.get("Type") == "Notification")


def _tokens(vault: Vault, environment_text: str, integration_text: str) -> list[str]:
    """The tokens of the address of an integration; none of one that cannot exist."""
    environment_id, integration_id = find_id(environment_text), find_id(integration_text)
    if environment_id is None or integration_id is None:
        return []
    return vault.tokens(context=b"replies" + environment_id + integration_id)


async def _get_integration(call: DetachedCall, environment_text: str, integration_text: str) -> Integration:
    environment_id, integration_id = find_id(environment_text), find_id(integration_text)
    integration = None
    if environment_id is not None and integration_id is not None:
        ids = EnvironmentId(environment_id), IntegrationId(integration_id)
        integration = await call.database.read(lambda db: store.find_integration(db, *ids, call.services.vault))
    if integration is None or integration.channel is not Channel.EMAIL:
        raise NotFound("Integration", integration_text)
    return integration


def _callback(call: DetachedCall) -> Callback:
    request = call.request
    pairs = parse_qsl(request.query.decode("utf-8", errors="replace"), keep_blank_values=True)
    return Callback(
        method=request.method,
        url=request.path.decode("latin-1"),
        query=dict(reversed(pairs)),
        headers={name.decode("latin-1"): value.decode("latin-1") for name, value in request.headers.items()},
        body=request.body,
        received_at=call.now,
    )
