"""An e-mail with validated addresses, single-line headers, a text alternative for HTML, and attachments."""

import base64
import binascii
import mimetypes
import re
from collections.abc import Iterable, Iterator, Mapping
from email.headerregistry import Address
from html import escape
from typing import Any, ClassVar

from clarion.clock import Millis
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.overrides import read_text
from clarion.providers.definition.request import to_single_line
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.email.addresses import looks_encoded, parse_address, split_addresses
from clarion.providers.email.plain_text import is_html, plain_text
from clarion.secret import PartlyPrinted

KNOWN = frozenset(
    {
        *("cc", "bcc", "replyTo", "from", "senderName", "attachments", "headers", "text", "to", "subject", "html"),
        "preheader",
    }
)
_HEADER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,75}")
_RESERVED_HEADERS = frozenset(
    {"from", "to", "cc", "bcc", "sender", "return-path", "message-id", "mime-version", "subject", "date"}
)
_REPLY_TO = "reply-to"
_LIST_UNSUBSCRIBE = "List-Unsubscribe"
_PART = r"[A-Za-z0-9!#$%&'*+.^_`{|}~-]+"
_MEDIA_TYPE = re.compile(rf"(?!multipart/){_PART}/{_PART}(?: ?; ?{_PART}=(?:{_PART}|\"[^\"\\]*\"))*", re.IGNORECASE)
_CONTENT_ID = re.compile(r"[!-;=?-~ ]+")
_MAX_NAME = 200

# Where the visible part of a document starts, best first.
_STARTS = tuple(
    re.compile(tag, re.IGNORECASE) for tag in (r"<body\b[^<>]*>", r"</head\s*>", r"<html\b[^<>]*>", r"<!doctype[^<>]*>")
)


class Attachment(PartlyPrinted, frozen=True, kw_only=True):
    PRINTED: ClassVar = ("name", "type", "content_id")
    name: str
    type: str
    content: bytes
    content_id: str | None = None
    """Set for images that the HTML refers to (`cid:…`)."""

    @property
    def is_inline(self) -> bool:
        return self.content_id is not None

    @property
    def base64(self) -> str:
        return base64.b64encode(self.content).decode()


class Email(PartlyPrinted, frozen=True, kw_only=True):
    """One e-mail to one person, and to others with them."""

    PRINTED: ClassVar = (
        "message_id",
        "at",
        "to",
        "to_others",
        "sender",
        "subject",
        "cc",
        "bcc",
        "reply_to",
        "attachments",
    )
    message_id: str
    at: Millis
    """The time of this attempt."""
    to: Address
    """Whom the message is for."""
    sender: Address
    subject: str
    html: str | None
    text: str
    """The text alternative, or the whole message if there is no HTML."""
    to_others: tuple[Address, ...] = ()
    """Further recipients beside them."""
    cc: tuple[Address, ...] = ()
    bcc: tuple[Address, ...] = ()
    reply_to: tuple[Address, ...] = ()
    headers: Mapping[str, str] = {}
    own_headers: Mapping[str, str] = {}
    """Without those of unsubscribing: what the step and the trigger ask for."""
    attachments: tuple[Attachment, ...] = ()
    context: Mapping[str, Any] = {}
    """Facts about the trigger for receivers of plain webhooks."""
    receipts_url: str | None = None

    @property
    def all_to(self) -> tuple[Address, ...]:
        return (self.to, *self.to_others)

    @property
    def as_html(self) -> str:
        """The HTML, made from the text if there is none; for providers that accept only HTML."""
        if self.html is not None:
            return self.html
        return _html_of(self.text)


def read_email(outgoing: Outgoing, account: Credentials, now: Millis) -> Email:
    """Build the e-mail of a message from its content, its overrides and the account."""
    given = outgoing.overrides
    html, text = read_bodies(outgoing.content, given)
    to = _recipient(outgoing.email)
    to_others = _without(_addresses(given, "to"), (to,))
    headers = dict(_headers(given.get("headers")))
    reply_to = _reply_to(given, headers)
    return Email(
        message_id=outgoing.message_id,
        at=now,
        to=to,
        sender=_sender(given, account),
        subject=to_single_line(str(given.get("subject") or outgoing.subject or "")),
        html=None if html is None else outgoing.track(html),
        text=text,
        to_others=to_others,
        cc=_without(_addresses(given, "cc"), (to, *to_others)),
        bcc=_addresses(given, "bcc"),
        reply_to=reply_to,
        headers=with_unsubscribe_headers(headers, outgoing.unsubscribe_url),
        own_headers=headers,
        attachments=tuple(_attachments(given.get("attachments"))),
        context=outgoing.context,
        receipts_url=outgoing.receipts_url,
    )


def mailbox(address: Address) -> dict[str, str]:
    """Return an address in the JSON form of most providers."""
    named = {"email": address.addr_spec, "name": address.display_name}
    return named if address.display_name else {"email": address.addr_spec}


def mailboxes(several: Iterable[Address]) -> list[dict[str, str]]:
    return [mailbox(one) for one in several]


def first_mailbox(several: Iterable[Address]) -> dict[str, str] | None:
    """Return the first address; for providers that support a single reply-to address."""
    return next(map(mailbox, several), None)


def can_set_header(name: str) -> bool:
    """Return whether a caller may set the header; the others follow from the message itself."""
    lower = name.lower()
    return (
        _HEADER_NAME.fullmatch(name) is not None and lower not in _RESERVED_HEADERS and not lower.startswith("content-")
    )


def with_unsubscribe_headers(headers: dict[str, str], url: str | None) -> dict[str, str]:
    """Add what mail programs unsubscribe by (RFC 2369), with one click if the link is safe (RFC 8058).

    Headers that the step or the trigger gives win.
    """
    if url is None or any(name.lower() == _LIST_UNSUBSCRIBE.lower() for name in headers):
        return headers
    added = {_LIST_UNSUBSCRIBE: f"<{url}>"}
    if url.startswith("https:"):
        added[f"{_LIST_UNSUBSCRIBE}-Post"] = "List-Unsubscribe=One-Click"
    return {**added, **headers}


def read_bodies(content: str, given: Mapping[str, Any]) -> tuple[str | None, str]:
    """Return the HTML, if there is any, and the text of an e-mail from its content and its options."""
    text = None
    if given:
        text = read_text(given, "text")
        content = read_text(given, "html") or content
    preheader = given.get("preheader")
    if not (is_html(content) or "html" in given):
        text = text or content
        return f"{_preheader(preheader)}{_html_of(text)}" if preheader else None, text
    html = _with_preheader(content, preheader) if preheader else content
    return html, text or plain_text(content)


def _with_preheader(html: str, preheader: Any) -> str:
    found = next((match for start in _STARTS if (match := start.search(html))), None)
    place = found.end() if found else 0
    return html[:place] + _preheader(preheader) + html[place:]


def _preheader(text: Any) -> str:
    """Return the text that mail programs show behind the subject, hidden in the message itself."""
    hidden = "display:none;max-height:0;overflow:hidden;mso-hide:all"
    return f'<div style="{hidden}">{escape(to_single_line(str(text)))}</div>'


def _html_of(text: str) -> str:
    return f'<div style="white-space: pre-wrap">{escape(text)}</div>'


def _sender(overrides: Mapping[str, Any], account: Credentials) -> Address:
    address = _parse_address("from", overrides.get("from") or getattr(account, "sender", ""))
    name = overrides.get("senderName") or address.display_name or getattr(account, "sender_name", "")
    return Address(to_single_line(str(name)), address.username, address.domain)


def _recipient(text: str | None) -> Address:
    if not text:
        raise SendFailure(FailureKind.RECIPIENT_INVALID, "The subscriber has no e-mail address")
    try:
        address = _parse_address("to", text)
    except SendFailure as failure:
        raise SendFailure(FailureKind.RECIPIENT_INVALID, failure.message) from failure
    return Address("", address.username, address.domain)


def _reply_to(overrides: Mapping[str, Any], headers: dict[str, str]) -> tuple[Address, ...]:
    """Return where replies go; a header that says so wins, and is taken from the others."""
    found = [headers.pop(name) for name in list(headers) if name.lower() == _REPLY_TO]
    return _addresses({_REPLY_TO: found[-1]}, _REPLY_TO) if found else _addresses(overrides, "replyTo")


def _without(given: tuple[Address, ...], others: Iterable[Address]) -> tuple[Address, ...]:
    """Return each address once, and none that is among the others."""
    if not given:
        return ()
    remaining = {one.addr_spec.lower(): one for one in given}
    for one in others:
        remaining.pop(one.addr_spec.lower(), None)
    return tuple(remaining.values())


def _addresses(overrides: Mapping[str, Any], name: str) -> tuple[Address, ...]:
    given = overrides.get(name)
    if not given:
        return ()
    texts = split_addresses(given)
    if texts is None:
        raise SendFailure(FailureKind.PERMANENT, f"The override '{name}' must be an e-mail address or a list of them")
    return tuple(_parse_address(name, text) for text in texts)


def _parse_address(name: str, text: Any) -> Address:
    try:
        return parse_address(text.strip() if isinstance(text, str) else text)
    except ValueError as error:
        raise SendFailure(FailureKind.PERMANENT, f"'{name}' is not an e-mail address: {error}") from error


def _headers(given: Any) -> Iterator[tuple[str, str]]:
    for name, value in given.items() if isinstance(given, Mapping) else ():
        if not can_set_header(name):
            raise SendFailure(FailureKind.PERMANENT, f"The header '{name}' cannot be set by overrides")
        yield name, to_single_line(str(value))


def _attachments(given: Any) -> Iterator[Attachment]:
    for number, attachment in enumerate(given if isinstance(given, list) else (), start=1):
        if not isinstance(attachment, Mapping) or not isinstance(attachment.get("file"), str):
            raise SendFailure(FailureKind.PERMANENT, f"The attachment {number} must have a file in base64")
        name = to_single_line(str(attachment.get("name") or "")) or f"attachment-{number}"
        yield Attachment(
            name=name,
            type=_media_type(attachment, name),
            content=_decode(attachment["file"], name),
            content_id=_content_id(attachment, name),
        )


def _media_type(given: Mapping[str, Any], name: str) -> str:
    text = to_single_line(str(given.get("mime") or mimetypes.guess_type(name)[0] or "application/octet-stream"))
    if len(text) > _MAX_NAME or looks_encoded(text) or not _MEDIA_TYPE.fullmatch(text):
        message = f"The attachment '{name}' has the type '{text}', which no file can have; application/pdf is one"
        raise SendFailure(FailureKind.PERMANENT, message)
    return text


def _content_id(given: Mapping[str, Any], name: str) -> str | None:
    """Return the name by which the HTML refers to the file; it becomes a header as it is."""
    text = to_single_line(given["cid"]) if isinstance(given.get("cid"), str) else ""
    if text and (len(text) > _MAX_NAME or looks_encoded(text) or not _CONTENT_ID.fullmatch(text)):
        message = f"The attachment '{name}' has a cid with other characters than visible ASCII, or with < or >"
        raise SendFailure(FailureKind.PERMANENT, message)
    return text or None


def _decode(text: str, name: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise SendFailure(FailureKind.PERMANENT, f"The attachment '{name}' is not base64") from error
