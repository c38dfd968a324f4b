"""An e-mail with validated addresses, single-line headers, a text alternative for HTML, and attachments."""

import base64
import binascii
import mimetypes
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from email.headerregistry import Address
from functools import lru_cache
from html import escape
from typing import Any

from email_validator import EmailNotValidError, validate_email

from clarion.clock import Millis
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.definition.single_line import to_single_line
from clarion.providers.email.plain_text import is_html, plain_text

KNOWN = frozenset(
    {
        *("cc", "bcc", "replyTo", "from", "senderName", "attachments", "headers", "text", "to", "subject", "html"),
        *("body", "content"),
    }
)
# Simple addresses need no validator, which is slow.
_PLAIN_ADDRESS = re.compile(
    r"(?=.{6,254}\Z)(?P<user>(?=.{1,64}@)[A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*)"
    r"@(?P<domain>(?:(?!..--)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63})"
)
_RESERVED_DOMAINS = frozenset({"arpa", "invalid", "local", "localhost", "onion", "test"})
_HEADER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,75}")
_RESERVED_HEADERS = frozenset(
    {"from", "to", "cc", "bcc", "sender", "return-path", "message-id", "mime-version", "subject", "date"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    name: str
    type: str
    content: bytes = field(repr=False)
    content_id: str | None = None
    """Set for images that the HTML refers to (`cid:…`)."""

    @property
    def is_inline(self) -> bool:
        return self.content_id is not None

    @property
    def base64(self) -> str:
        return base64.b64encode(self.content).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Email:
    """One e-mail to one recipient, with copies to others."""

    message_id: str
    at: Millis
    """The time of this attempt."""
    to: Address
    sender: Address
    subject: str
    html: str | None
    text: str
    """The text alternative, or the whole message if there is no HTML."""
    cc: tuple[Address, ...] = ()
    bcc: tuple[Address, ...] = ()
    reply_to: tuple[Address, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    attachments: tuple[Attachment, ...] = ()
    context: Mapping[str, Any] = field(default_factory=dict)
    """Facts about the trigger for receivers of plain webhooks."""
    receipts_url: str | None = field(default=None, repr=False)

    @property
    def as_html(self) -> str:
        """The HTML, made from the text if there is none; for providers that accept only HTML."""
        if self.html is not None:
            return self.html
        return f'<div style="white-space: pre-wrap">{escape(self.text)}</div>'


def read_email(outgoing: Outgoing, account: Credentials, now: Millis) -> Email:
    """Build the e-mail of a message from its content, its overrides and the account."""
    given = outgoing.overrides
    html, text = _bodies(outgoing)
    return Email(
        message_id=outgoing.message_id,
        at=now,
        to=_recipient(outgoing.email),
        sender=_sender(given, account),
        subject=to_single_line(str(given.get("subject") or outgoing.subject or "")),
        html=html,
        text=text,
        cc=_addresses(given, "cc"),
        bcc=_addresses(given, "bcc"),
        reply_to=_addresses(given, "replyTo"),
        headers=dict(_headers(given.get("headers"))),
        attachments=tuple(_attachments(given.get("attachments"))),
        context=outgoing.context,
        receipts_url=outgoing.receipts_url,
    )


def mailbox(one: Address) -> dict[str, str]:
    """Return an address in the JSON form of most providers."""
    named = {"email": one.addr_spec, "name": one.display_name}
    return named if one.display_name else {"email": one.addr_spec}


def mailboxes(several: Iterable[Address]) -> list[dict[str, str]]:
    return [mailbox(one) for one in several]


def first_mailbox(several: Iterable[Address]) -> dict[str, str] | None:
    """Return the first address; for providers that support a single reply-to address."""
    return next(map(mailbox, several), None)


def _bodies(outgoing: Outgoing) -> tuple[str | None, str]:
    text = outgoing.overrides.get("text")
    if is_html(outgoing.content):
        return outgoing.content, text if isinstance(text, str) and text else plain_text(outgoing.content)
    return None, outgoing.content


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


def _addresses(overrides: Mapping[str, Any], name: str) -> tuple[Address, ...]:
    value = overrides.get(name) or []
    texts = value.split(",") if isinstance(value, str) else value
    if not isinstance(texts, list | tuple):
        raise SendFailure(FailureKind.PERMANENT, f"The override '{name}' must be an e-mail address or a list of them")
    return tuple(_parse_address(name, text) for text in texts)


def _parse_address(name: str, text: Any) -> Address:
    plain = _PLAIN_ADDRESS.fullmatch(text) if isinstance(text, str) else None
    if plain is not None and (domain := plain["domain"].lower()).rpartition(".")[2] not in _RESERVED_DOMAINS:
        return Address("", plain["user"], domain)
    return _validate_address(name, text if isinstance(text, str) else "")


@lru_cache(maxsize=1024)
def _validate_address(name: str, text: str) -> Address:
    try:
        # Relays inside of a company accept domains without a dot.
        found = validate_email(
            text,
            allow_display_name=True,
            check_deliverability=False,
            globally_deliverable=False,
        )
    except EmailNotValidError as error:
        raise SendFailure(FailureKind.PERMANENT, f"'{name}' is not an e-mail address: {error}") from error
    username = found.ascii_local_part or found.local_part
    return Address(to_single_line(found.display_name or ""), username, found.ascii_domain)


def _headers(given: Any) -> Iterator[tuple[str, str]]:
    for name, value in given.items() if isinstance(given, Mapping) else ():
        if not _HEADER_NAME.fullmatch(name) or name.lower() in _RESERVED_HEADERS or name.lower().startswith("content-"):
            raise SendFailure(FailureKind.PERMANENT, f"The header '{name}' cannot be set by overrides")
        yield name, to_single_line(str(value))


def _attachments(given: Any) -> Iterator[Attachment]:
    for number, one in enumerate(given if isinstance(given, list) else (), start=1):
        if not isinstance(one, Mapping) or not isinstance(one.get("file"), str):
            raise SendFailure(FailureKind.PERMANENT, f"The attachment {number} must have a file in base64")
        name = to_single_line(str(one.get("name") or "")) or f"attachment-{number}"
        content_id = one.get("cid")
        yield Attachment(
            name=name,
            type=to_single_line(str(one.get("mime") or mimetypes.guess_type(name)[0] or "application/octet-stream")),
            content=_decode(one["file"], name),
            content_id=to_single_line(content_id) if isinstance(content_id, str) and content_id else None,
        )


def _decode(text: str, name: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise SendFailure(FailureKind.PERMANENT, f"The attachment '{name}' is not base64") from error
