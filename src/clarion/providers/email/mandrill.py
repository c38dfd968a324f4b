"""Mandrill (Mailchimp Transactional): a status for each recipient, and webhooks that sign their form."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from clarion.providers.definition.credentials import EmailCredentials
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import EmailProvider
from clarion.providers.definition.receipts import Callback, EventReader, ProviderReply, Receipts, is_same, kinds_of
from clarion.providers.definition.request import ProviderRequest, drop_empty
from clarion.providers.definition.result import FailureKind, ProviderAnswer, SendContext, SendFailure, Sent, codes
from clarion.providers.email.addresses import write_address
from clarion.providers.email.message import Attachment, Email, mailbox
from clarion.providers.signing.signatures import hmac_base64
from clarion.secret import Secret

_HOST = "https://mandrillapp.com/api/1.0"
# Reasons that are permanent for the address; others concern the sender or are temporary.
_ADDRESS_REASONS = frozenset({"hard-bounce", "spam", "unsub", "custom", "invalid"})


class MandrillCredentials(EmailCredentials):
    api_key: Secret
    ip_pool_name: str = ""
    secret_key: Secret = Secret("")
    """The key of the webhook, which is not the API key."""


def request(account: MandrillCredentials, email: Email) -> ProviderRequest:
    people = {"to": email.all_to, "cc": email.cc, "bcc": email.bcc}
    message = {
        "from_email": email.sender.addr_spec,
        "from_name": email.sender.display_name,
        "to": [{**mailbox(one), "type": kind} for kind, several in people.items() for one in several],
        "subject": email.subject,
        "html": email.html,
        "text": email.text,
        "headers": drop_empty({**email.headers, "Reply-To": ", ".join(map(write_address, email.reply_to))}),
        "attachments": [_file(one, one.name) for one in email.attachments if one.content_id is None],
        "images": [_file(one, one.content_id) for one in email.attachments if one.content_id is not None],
        "metadata": {"clarion_message_id": email.message_id},
        # Otherwise every recipient gets a separate e-mail without the Cc header.
        "preserve_recipients": True,
    }
    body = {"key": account.api_key.reveal(), "message": drop_empty(message), "ip_pool": account.ip_pool_name}
    return ProviderRequest.json(f"{_HOST}/messages/send", drop_empty(body))


def sent(answer: ProviderAnswer, context: SendContext) -> str | Sent | None:
    """Return the id in the recipient's entry; copies have entries too, in any order."""
    entries = [one for one in answer.values("*") if isinstance(one, Mapping)]
    recipient = context.message.to.addr_spec.lower()
    entry = next((one for one in entries if str(one.get("email")).lower() == recipient), {})
    if entry.get("status") in ("rejected", "invalid"):
        reason = str(entry.get("reject_reason") or entry["status"])
        kind = FailureKind.RECIPIENT_INVALID if reason in _ADDRESS_REASONS else FailureKind.PERMANENT
        raise SendFailure(kind, f"Mandrill answered {answer.status}: {entry['status']}, {reason}")
    return str(entry["_id"]) if entry.get("_id") else None


def is_genuine(callback: Callback, account: MandrillCredentials) -> bool:
    text = callback.url + "".join(f"{name}{value}" for name, value in sorted(callback.form().items()))
    expected = hmac_base64(account.secret_key, text.encode(), "sha1") if account.secret_key else ""
    return is_same(callback.headers.get("x-mandrill-signature", ""), expected)


def _file(one: Attachment, name: str) -> dict[str, str]:
    return {"type": one.type, "name": name, "content": one.base64}


def _is_empty(callback: Callback) -> bool:
    return callback.form().get("mandrill_events") == "[]"


def _events(callback: Callback) -> list[Mapping[str, Any]]:
    return replace(callback, body=callback.form()["mandrill_events"].encode()).events()


RECEIPTS = EventReader(
    kinds=kinds_of(
        sent=("send",),
        delivered=("delivered",),
        deferred=("deferral",),
        bounced=("hard_bounce", "soft_bounce"),
        failed=("reject",),
        complained=("spam",),
        unsubscribed=("unsub",),
        opened=("open",),
        clicked=("click",),
    ),
    kind="event",
    id="_id",
    own_id="msg.metadata.clarion_message_id",
    recipient="msg.email",
    at="ts",
    reason="msg.diag",
    is_hard=lambda event: event["event"] == "hard_bounce",
    events=_events,
)

PROVIDER = EmailProvider(
    id="mandrill",
    name="Mandrill",
    credentials=MandrillCredentials,
    request=request,
    sent=sent,
    # Errors have a name; their status is a 500 whatever they mean.
    failures=(
        codes(
            "name",
            permanent=("Invalid_Key", "PaymentRequired", "ValidationError", "PoorReputation", "Unknown_Subaccount"),
            retryable=("GeneralError", "ServiceUnavailable"),
        ),
    ),
    check=lambda account: ProviderRequest.json(f"{_HOST}/users/ping2", {"key": account.api_key.reveal()}),
    receipts=Receipts(
        is_genuine=is_genuine,
        parse=RECEIPTS,
        # While a webhook is set up, Mandrill sends a HEAD, or an empty list that is signed with a test key.
        handshake=lambda callback, _: ProviderReply() if callback.method == "HEAD" or _is_empty(callback) else None,
        signed_with="signature, key in `secretKey`",
    ),
    casing=snake,
    documentation="https://mailchimp.com/developer/transactional/api/messages/send-new-message/",
)
