"""SendGrid: Mail Send API version 3, and the event webhook."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from clarion.jsontext import json_text
from clarion.providers.definition.credentials import EmailCredentials
from clarion.providers.definition.overrides import deep_merge, snake
from clarion.providers.definition.provider import EmailProvider
from clarion.providers.definition.receipts import (
    Callback,
    EventReader,
    Receipts,
    RequestFlow,
    find_ours,
    kinds_of,
)
from clarion.providers.definition.request import ProviderRequest, bearer, drop_empty, path_part
from clarion.providers.definition.result import FailureKind, checked, error_text, header_id, reset_header, text_at
from clarion.providers.email.message import Attachment, Email, mailbox, mailboxes
from clarion.providers.signing.signatures import is_ecdsa_signed
from clarion.secret import Secret

# Members of a personalization that are no recipients, and are not read by our message.
_PERSONAL = frozenset({"dynamic_template_data", "substitutions", "custom_args", "send_at"})


class SendGridCredentials(EmailCredentials):
    api_key: Secret
    region: str = ""
    ip_pool_name: str = ""
    secret_key: Secret = Secret("")
    """The verification key of the signed event webhook."""

    @property
    def host(self) -> str:
        return "https://api.eu.sendgrid.com" if self.region == "eu" else "https://api.sendgrid.com"


def request(account: SendGridCredentials, email: Email) -> ProviderRequest:
    personal = {
        "to": mailboxes(email.all_to),
        "cc": mailboxes(email.cc),
        "bcc": mailboxes(email.bcc),
        # Custom arguments here replace those of the whole message, so ours are beside those of the trigger.
        "custom_args": {"clarion_message_id": email.message_id},
    }
    # The text comes first, because mail readers show the last alternative that they support.
    contents = {"text/plain": email.text, "text/html": email.html}
    body = {
        "personalizations": [drop_empty(personal)],
        "from": mailbox(email.sender),
        "reply_to_list": mailboxes(email.reply_to),
        "subject": email.subject,
        "content": [{"type": kind, "value": value} for kind, value in contents.items() if value],
        "attachments": [_attachment(one) for one in email.attachments],
        "headers": email.headers,
        "ip_pool_name": account.ip_pool_name,
    }
    return ProviderRequest.json(f"{account.host}/v3/mail/send", drop_empty(body))


def merge(body: Mapping[str, Any], added: Mapping[str, Any]) -> Any:
    """Merge what a trigger adds; what belongs to a recipient goes into the only personalization."""
    personal = {name: value for name, value in added.items() if name in _PERSONAL}
    others = {name: value for name, value in added.items() if name not in _PERSONAL and name != "personalizations"}
    given = added.get("personalizations") or {}
    first, *further = given if isinstance(given, list) else [given]
    ours, *rest = body["personalizations"]
    merged = deep_merge(deep_merge(ours, personal), first)
    arguments = merged.get("custom_args") if isinstance(merged, Mapping) else None
    if isinstance(arguments, Mapping):
        merged = {**merged, "custom_args": {name: _text(value) for name, value in arguments.items()}}
    return {**deep_merge(body, others), "personalizations": [merged, *rest, *further]}


def custom_data(given: Mapping[str, Any]) -> dict[str, Any]:
    """What is no template and no data of one is a custom argument."""
    template = {name: given[name] for name in ("templateId", "dynamicTemplateData") if name in given}
    return template | {"customArgs": {name: value for name, value in given.items() if name not in template}}


def _text(value: Any) -> str:
    """SendGrid refuses custom arguments that are no texts."""
    return value if isinstance(value, str) else json_text(value)


def is_genuine(callback: Callback, account: SendGridCredentials) -> bool:
    timestamp = callback.headers.get("x-twilio-email-event-webhook-timestamp", "")
    signature = callback.headers.get("x-twilio-email-event-webhook-signature", "")
    signed = timestamp.encode() + callback.body
    return callback.is_recent(timestamp) and is_ecdsa_signed(account.secret_key.reveal(), signature, signed)


def _attachment(attachment: Attachment) -> dict[str, Any]:
    disposition = "inline" if attachment.is_inline else "attachment"
    file = {"content": attachment.base64, "filename": attachment.name, "type": attachment.type}
    return drop_empty({**file, "disposition": disposition, "content_id": attachment.content_id})


RECEIPTS = EventReader(
    kinds=kinds_of(
        sent=("processed",),
        delivered=("delivered",),
        deferred=("deferred",),
        bounced=("bounce",),
        failed=("dropped",),
        complained=("spamreport",),
        unsubscribed=("unsubscribe", "group_unsubscribe"),
        opened=("open",),
        clicked=("click",),
    ),
    kind="event",
    id="sg_message_id",
    # The response has only the part before the first dot.
    normalize_id=lambda text: text.partition(".")[0],
    own_id="clarion_message_id",
    recipient="email",
    at="timestamp",
    event_id="sg_event_id",
    reason="reason",
    # The type `blocked` concerns this message, not the address.
    is_hard=lambda event: event.get("type") == "bounce",
)

_EVENTS = (
    *("processed", "delivered", "deferred", "bounce", "dropped", "spam_report", "unsubscribe", "group_unsubscribe"),
    *("open", "click"),
)


def register(account: SendGridCredentials, url: str) -> RequestFlow[Secret]:
    """Create the event webhook or change ours, and have it signed."""
    settings = f"{account.host}/v3/user/webhooks/event/settings"
    listed = checked((yield ProviderRequest.get(f"{settings}/all")))
    known = find_ours(listed.values("webhooks.*"), "url", url)
    body = {"enabled": True, "url": url, "friendly_name": "Clarion", **dict.fromkeys(_EVENTS, True)}
    request = ProviderRequest.json(settings if known is None else f"{settings}/{path_part(known)}", body)
    hook_id = text_at((yield request if known is None else replace(request, method="PATCH")), "id")
    signed = replace(ProviderRequest.json(f"{settings}/signed/{path_part(hook_id)}", {"enabled": True}), method="PATCH")
    return Secret(text_at((yield signed), "public_key"))


PROVIDER = EmailProvider(
    id="sendgrid",
    name="SendGrid",
    credentials=SendGridCredentials,
    auth=lambda account: bearer(account.api_key),
    request=request,
    sent=header_id("X-Message-Id"),
    failures=(error_text(r'"field":\s*"personalizations[^"]*\.to', FailureKind.RECIPIENT_INVALID, status=400),),
    read_retry_after=reset_header("X-RateLimit-Reset"),
    check=lambda account: ProviderRequest.get(f"{account.host}/v3/scopes"),
    receipts=Receipts(
        is_genuine=is_genuine, parse=RECEIPTS, register=register, signed_with="signature, key in `secretKey`"
    ),
    casing=snake,
    custom_data=custom_data,
    merge=merge,
    documentation="https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send",
)
