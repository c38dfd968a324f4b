"""Mailgun: messages as multipart forms, and webhooks that sign a random token."""

from typing import Annotated

from msgspec.structs import replace

from clarion.providers.definition.credentials import URL, EmailCredentials
from clarion.providers.definition.provider import EmailProvider
from clarion.providers.definition.receipts import Callback, EventReader, Receipts, RequestFlow, is_same, kinds_of
from clarion.providers.definition.request import File, ProviderRequest, basic, drop_empty, path_part
from clarion.providers.definition.result import FailureKind, checked, error_text, json_id, text_at
from clarion.providers.email.addresses import write_address
from clarion.providers.email.message import Email
from clarion.providers.signing.signatures import hmac_hex
from clarion.secret import Secret


class MailgunCredentials(EmailCredentials):
    api_key: Secret
    user: str
    domain: str
    base_url: Annotated[str, URL] = "https://api.mailgun.net"
    secret_key: Secret = Secret("")
    """The HTTP webhook signing key, which is not the API key."""

    def url(self, version: str, resource: str = "") -> str:
        return f"{self.base_url.rstrip('/')}/{version}/{path_part(self.domain)}{resource}"


def request(account: MailgunCredentials, email: Email) -> ProviderRequest:
    fields = {
        "from": write_address(email.sender),
        "to": [write_address(one) for one in email.all_to],
        "cc": [write_address(one) for one in email.cc],
        "bcc": [write_address(one) for one in email.bcc],
        "subject": email.subject,
        "text": email.text,
        "html": email.html,
        "h:Reply-To": ", ".join(map(write_address, email.reply_to)),
        **{f"h:{name}": value for name, value in email.headers.items()},
        "v:clarion_message_id": email.message_id,
    }
    # The HTML refers to an image by its file name, so the content id is used as file name.
    files = [
        File(
            part="inline" if attachment.content_id else "attachment",
            name=attachment.content_id or attachment.name,
            type=attachment.type,
            content=attachment.content,
        )
        for attachment in email.attachments
    ]
    return ProviderRequest.multipart(account.url("v3", "/messages"), drop_empty(fields), files=files)


def is_genuine(callback: Callback, account: MailgunCredentials) -> bool:
    (event,) = callback.events() or [{}]
    given = event.get("signature")
    signed = given if isinstance(given, dict) else {}
    text = f"{signed.get('timestamp', '')}{signed.get('token', '')}"
    expected = hmac_hex(account.secret_key, text.encode())
    return callback.is_recent(signed.get("timestamp")) and is_same(str(signed.get("signature", "")), expected)


RECEIPTS = EventReader(
    kinds=kinds_of(
        sent=("accepted",),
        delivered=("delivered",),
        bounced=("failed permanent",),
        deferred=("failed temporary",),
        failed=("rejected",),
        opened=("opened",),
        clicked=("clicked",),
        complained=("complained",),
        unsubscribed=("unsubscribed",),
    ),
    kind="kind",
    id="message.headers.message-id",
    # The id in the response has angle brackets, the one in reports has none.
    normalize_id=lambda text: f"<{text.strip('<>')}>",
    own_id="user-variables.clarion_message_id",
    recipient="recipient",
    at="timestamp",
    event_id="id",
    reason="delivery-status.message",
    is_hard=lambda _: True,
    events=lambda callback: [
        data | {"kind": " ".join(filter(None, (data.get("event"), data.get("severity"))))}
        for event in callback.events()
        if isinstance(data := event.get("event-data"), dict)
    ],
)

_EVENTS = (
    *("accepted", "delivered", "opened", "clicked", "unsubscribed", "complained"),
    *("permanent_fail", "temporary_fail"),
)


def register(account: MailgunCredentials, url: str) -> RequestFlow[Secret]:
    """Add our address to each kind of event of the domain, beside those of others."""
    base = account.base_url.rstrip("/")
    place = f"{base}/v3/domains/{path_part(account.domain)}/webhooks"
    address = url.partition("?")[0]
    listed = checked((yield ProviderRequest.get(place)))
    for event in _EVENTS:
        urls = [one for one in listed.values(f"webhooks.{event}.urls.*") if isinstance(one, str)]
        others = [one for one in urls if one.partition("?")[0] != address]
        if url in urls and len(others) == len(urls) - 1:
            continue
        if urls:
            request = ProviderRequest.form(f"{place}/{event}", {"url": [*others, url]})
            checked((yield replace(request, method="PUT")))
        else:
            checked((yield ProviderRequest.form(place, {"id": event, "url": url})))
    return Secret(text_at((yield ProviderRequest.get(f"{base}/v5/accounts/http_signing_key")), "http_signing_key"))


PROVIDER = EmailProvider(
    id="mailgun",
    name="Mailgun",
    credentials=MailgunCredentials,
    auth=lambda account: basic(account.user, account.api_key),
    request=request,
    # A wrong path returns a 200 with a greeting, so only an answer with an id is a success.
    sent=json_id("id"),
    failures=(error_text(r"to parameter is not a valid address", FailureKind.RECIPIENT_INVALID, status=400),),
    check=lambda account: ProviderRequest.get(account.url("v4/domains")),
    receipts=Receipts(
        is_genuine=is_genuine, parse=RECEIPTS, register=register, signed_with="signature, key in `secretKey`"
    ),
    documentation="https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/messages",
)
