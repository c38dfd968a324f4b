"""Amazon SES: API version 2 with the e-mail in MIME, and events through SNS."""

import base64
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from clarion.providers.definition.credentials import EmailCredentials
from clarion.providers.definition.overrides import pascal
from clarion.providers.definition.provider import EmailProvider
from clarion.providers.definition.receipts import Callback, EventReader, Receipt, Receipts, RequestFlow, kinds_of
from clarion.providers.definition.request import ProviderRequest, drop_empty
from clarion.providers.definition.result import FailureKind, error_text, header_codes, json_id
from clarion.providers.email.message import Email
from clarion.providers.email.mime import write_mime
from clarion.providers.signing.amazon import (
    REFUSED_ACCOUNT_CODES,
    REGION,
    aws_address,
    get_topic_owner,
    is_confirmation_url,
    is_signed_by_sns,
    make_aws_signer,
)
from clarion.secret import Secret


class SesCredentials(EmailCredentials):
    api_key: str
    secret_key: Secret
    region: Annotated[str, REGION]
    token: Secret | None = None
    """The session token of temporary keys."""

    def url(self, path: str) -> str:
        return f"{aws_address('email', self.region)}{path}"


def request(account: SesCredentials, email: Email) -> ProviderRequest:
    # Amazon assigns its own Message-ID; ours is in the tags.
    message = write_mime(email)
    destination = {
        "ToAddresses": [one.addr_spec for one in email.all_to],
        "CcAddresses": [one.addr_spec for one in email.cc],
        "BccAddresses": [one.addr_spec for one in email.bcc],
    }
    body = {
        "Destination": drop_empty(destination),
        "Content": {"Raw": {"Data": base64.b64encode(message.content).decode()}},
        "EmailTags": [{"Name": "clarion_message_id", "Value": email.message_id}],
    }
    return ProviderRequest.json(account.url("/v2/email/outbound-emails"), body)


def parse(callback: Callback) -> RequestFlow[list[Receipt]]:
    """Read the events of a notification; confirm the subscription of a new topic."""
    (notification,) = callback.events() or [{}]
    address, topic = str(notification.get("SubscribeURL", "")), str(notification.get("TopicArn", ""))
    if notification.get("Type") == "SubscriptionConfirmation" and is_confirmation_url(address, topic):
        yield ProviderRequest.get(address)
    return EVENTS(callback) if notification.get("Type") == "Notification" else []


def _events(callback: Callback) -> list[Mapping[str, Any]]:
    """Return one event per recipient, with its `kind` and its details under `about`."""
    (notification,) = callback.events()
    try:
        event = msgspec.json.decode(str(notification["Message"]), type=dict[str, Any])
    except msgspec.DecodeError:
        # The first message of a topic is plain text.
        return []
    kind = str(event.get("eventType") or event.get("notificationType"))
    about = event.get(kind[:1].lower() + kind[1:].replace(" ", ""), {})
    recipients = about.get("bouncedRecipients") or about.get("complainedRecipients") or event["mail"]["destination"]
    return [
        event | {"kind": kind, "about": about, "event_id": notification["MessageId"], "person": _address(one)}
        for one in recipients
    ]


def _address(recipient: Any) -> str:
    return str(recipient["emailAddress"] if isinstance(recipient, Mapping) else recipient)


_RECIPIENT = FailureKind.RECIPIENT_INVALID

EVENTS = EventReader(
    kinds=kinds_of(
        sent=("Send",),
        delivered=("Delivery",),
        deferred=("DeliveryDelay",),
        bounced=("Bounce",),
        failed=("Reject", "Rendering Failure"),
        complained=("Complaint",),
        unsubscribed=("Subscription",),
        opened=("Open",),
        clicked=("Click",),
    ),
    kind="kind",
    id="mail.messageId",
    own_id="mail.tags.clarion_message_id.0",
    recipient="person",
    at="about.timestamp",
    event_id="event_id",
    reason="about.bouncedRecipients.0.diagnosticCode",
    is_hard=lambda event: event["about"].get("bounceType") == "Permanent",
    events=_events,
)

PROVIDER = EmailProvider(
    id="ses",
    name="Amazon SES",
    credentials=SesCredentials,
    request=request,
    sign=make_aws_signer("ses"),
    sent=json_id("MessageId"),
    failures=(
        header_codes(
            "x-amzn-ErrorType",
            rate_limited=("TooManyRequestsException", "LimitExceededException", "ThrottlingException"),
            retryable=("SendingPausedException",),
            account_refused=REFUSED_ACCOUNT_CODES,
        ),
        error_text(
            r"illegal address|missing final '@domain'|(local address|domain) (contains|starts)", _RECIPIENT, status=400
        ),
    ),
    check=lambda account: ProviderRequest.get(account.url("/v2/email/account")),
    receipts=Receipts(
        is_genuine=is_signed_by_sns,
        parse=parse,
        signed_with="signature, certificate of Amazon SNS",
        source=get_topic_owner,
    ),
    casing=pascal,
    documentation="https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html",
    note="Events come by topics of Amazon SNS that are subscribed to the receipts address, of one account and region: "
    "the first that reports is remembered until the credentials are saved again, and others are refused.",
)
