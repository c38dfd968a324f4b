"""Resend: e-mails in JSON with an idempotency key, and Standard Webhooks."""

from msgspec.structs import replace

from clarion.providers.definition.credentials import EmailCredentials
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import EmailProvider
from clarion.providers.definition.receipts import EventReader, Receipts, RequestFlow, find_ours, kinds_of
from clarion.providers.definition.request import ProviderRequest, bearer, drop_empty, path_part
from clarion.providers.definition.result import (
    FailureKind,
    checked,
    codes,
    error_text,
    json_id,
    seconds_header,
    text_at,
)
from clarion.providers.email.addresses import write_address
from clarion.providers.email.message import Email
from clarion.providers.signing.signatures import is_standard_signed
from clarion.secret import Secret

_HOST = "https://api.resend.com"


class ResendCredentials(EmailCredentials):
    api_key: Secret
    secret_key: Secret = Secret("")
    """The signing secret of the webhook (`whsec_…`)."""


def request(_: ResendCredentials, email: Email) -> ProviderRequest:
    body = {
        "from": write_address(email.sender),
        "to": [write_address(one) for one in email.all_to],
        "cc": [write_address(one) for one in email.cc],
        "bcc": [write_address(one) for one in email.bcc],
        "reply_to": [write_address(one) for one in email.reply_to],
        "subject": email.subject,
        "html": email.html,
        "text": email.text,
        "headers": email.headers,
        "attachments": [
            drop_empty(
                {
                    "filename": attachment.name,
                    "content": attachment.base64,
                    "content_type": attachment.type,
                    "content_id": attachment.content_id,
                }
            )
            for attachment in email.attachments
        ],
        "tags": [{"name": "clarion_message_id", "value": email.message_id}],
    }
    headers = {"Idempotency-Key": email.message_id}
    return ProviderRequest.json(f"{_HOST}/emails", drop_empty(body), headers=headers)


RECEIPTS = EventReader(
    kinds=kinds_of(
        sent=("email.sent",),
        delivered=("email.delivered",),
        deferred=("email.delivery_delayed",),
        bounced=("email.bounced",),
        failed=("email.failed", "email.suppressed"),
        complained=("email.complained",),
        opened=("email.opened",),
        clicked=("email.clicked",),
    ),
    kind="type",
    id="data.email_id",
    own_id="data.tags.clarion_message_id",
    recipient="data.to.0",
    at="created_at",
    event_id="event_id",
    reason="data.bounce.message",
    is_hard=lambda event: event["data"]["bounce"]["type"] == "Permanent",
    events=lambda callback: [{**event, "event_id": callback.headers["svix-id"]} for event in callback.events()],
)

_WEBHOOKS = f"{_HOST}/webhooks"


def register(_: ResendCredentials, url: str) -> RequestFlow[Secret]:
    """Create the webhook or change ours."""
    listed = checked((yield ProviderRequest.get(_WEBHOOKS, {"limit": 100})))
    known = find_ours(listed.values("data.*"), "endpoint", url)
    body = {"endpoint": url, "events": sorted(RECEIPTS.kinds)}
    if known is None:
        return Secret(text_at((yield ProviderRequest.json(_WEBHOOKS, body)), "signing_secret"))
    place = f"{_WEBHOOKS}/{path_part(known)}"
    checked((yield replace(ProviderRequest.json(place, {**body, "status": "enabled"}), method="PATCH")))
    return Secret(text_at((yield ProviderRequest.get(place)), "signing_secret"))


PROVIDER = EmailProvider(
    id="resend",
    name="Resend",
    credentials=ResendCredentials,
    auth=lambda account: bearer(account.api_key),
    request=request,
    sent=json_id("id"),
    failures=(
        codes(
            "name",
            rate_limited=("rate_limit_exceeded", "daily_quota_exceeded", "monthly_quota_exceeded"),
            retryable=("concurrent_idempotent_requests",),
        ),
        error_text(r"invalid `to` field", FailureKind.RECIPIENT_INVALID),
    ),
    read_retry_after=seconds_header("ratelimit-reset"),
    check=lambda _: ProviderRequest.get(f"{_HOST}/domains"),
    # A key that is restricted to sending is valid.
    check_passes=lambda answer: answer.is_success or answer.value("name") == "restricted_api_key",
    receipts=Receipts(
        is_genuine=lambda callback, account: is_standard_signed(callback, account.secret_key),
        parse=RECEIPTS,
        register=register,
        signed_with="signature, key in `secretKey`",
    ),
    casing=snake,
    documentation="https://resend.com/docs/api-reference/emails/send-email",
    idempotency="`Idempotency-Key`, for 24 hours",
)
