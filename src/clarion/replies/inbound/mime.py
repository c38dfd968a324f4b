"""Reading a mail in its own form (MIME)."""

from collections.abc import Iterable, Sequence
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import getaddresses
from itertools import islice
from typing import Any, Final

from msgspec.structs import replace

from clarion.replies.model import (
    MAX_ATTACHMENTS,
    MAX_HEADERS,
    MAX_PEOPLE,
    MAX_TEXT,
    InboundMail,
    MailAddress,
    MailAttachment,
)

_MAX_HEADER: Final = 2_000
_MAX_PARTS: Final = 200


def read_mime(content: bytes) -> InboundMail:
    """Read a mail, however broken it is: what cannot be read is left out."""
    message = message_from_bytes(content)
    texts: dict[str, str] = {"text/plain": "", "text/html": ""}
    files: list[MailAttachment] = []
    for part in islice(message.walk(), _MAX_PARTS):
        kind = part.get_content_type()
        if part.is_multipart():
            continue
        if kind in texts and part.get_filename() is None and part.get_content_disposition() != "attachment":
            texts[kind] = texts[kind] or _read_text(part)
        else:
            files.append(_describe(part))
    return make_mail(message.items(), text=texts["text/plain"], html=texts["text/html"], attachments=files)


def make_mail(
    pairs: Iterable[tuple[Any, Any]], *, text: str, html: str, attachments: Sequence[MailAttachment] = ()
) -> InboundMail:
    """Return a mail by its headers, with texts of a limited length."""
    written = read_headers(pairs)
    headers = {name: _decode(value) for name, value in written.items()}
    mail = InboundMail(
        sender=read_addresses(written.get("from", "")),
        to=read_addresses(written.get("to", "")),
        cc=read_addresses(written.get("cc", "")),
        subject=headers.get("subject", ""),
        headers=headers,
        message_id=headers.get("message-id", ""),
        in_reply_to=headers.get("in-reply-to", ""),
        references=headers.get("references", "").split()[:MAX_PEOPLE],
        date=headers.get("date", ""),
        attachments=list(attachments[:MAX_ATTACHMENTS]),
    )
    return with_texts(mail, text, html)


def with_texts(mail: InboundMail, text: str, html: str) -> InboundMail:
    # PostgreSQL cannot store NUL in a text.
    text, html = text.replace("\0", ""), html.replace("\0", "")
    is_cut = max(len(text), len(html)) > MAX_TEXT
    return replace(mail, text=text[:MAX_TEXT], html=html[:MAX_TEXT], is_cut=is_cut)


def read_headers(pairs: Iterable[tuple[Any, Any]]) -> dict[str, str]:
    """Return headers on single lines, by lower-case names; of several with one name, the first."""
    headers: dict[str, str] = {}
    for name, value in pairs:
        if len(headers) >= MAX_HEADERS:
            break
        line = " ".join(str(value).replace("\0", "").split())
        headers.setdefault(str(name).strip().lower(), line[:_MAX_HEADER])
    return headers


def read_addresses(text: str) -> list[MailAddress]:
    """Return the addresses of a header as it is written: names are decoded last, so that none becomes an address."""
    found = getaddresses([text])
    return [MailAddress(address=address, name=_decode(name)) for name, address in found if "@" in address][:MAX_PEOPLE]


def _decode(text: str) -> str:
    """Decode what is encoded in a header; as it is if that fails."""
    if "=?" not in text:
        return text
    try:
        decoded = str(make_header(decode_header(text)))
    except (HeaderParseError, LookupError, ValueError):
        return text
    return " ".join(decoded.replace("\0", "").split())


def _read_text(part: Message) -> str:
    content = part.get_payload(decode=True)
    raw = content if isinstance(content, bytes) else b""
    try:
        return raw.decode(part.get_content_charset("utf-8"), "replace")
    except LookupError:
        return raw.decode("utf-8", "replace")


def _describe(part: Message) -> MailAttachment:
    content = part.get_payload(decode=True)
    return MailAttachment(
        file_name=_decode(part.get_filename() or "").replace("\0", ""),
        content_type=part.get_content_type(),
        length=len(content) if isinstance(content, bytes) else 0,
    )
