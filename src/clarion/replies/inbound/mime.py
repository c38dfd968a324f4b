"""Reading a mail in its own form (MIME)."""

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from email import message_from_bytes
from email._policybase import Compat32
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import getaddresses
from itertools import islice
from typing import Any, Final

from msgspec.structs import replace

from clarion.errors import ClarionError
from clarion.replies.model import (
    MAX_ATTACHMENTS,
    MAX_HEADERS,
    MAX_PEOPLE,
    MAX_TEXT,
    InboundMail,
    MailAddress,
    MailAttachment,
)

MAX_HEADER: Final = 2_000
MAX_NAME: Final = 200
MAX_NESTED: Final = 20
"""Parts that have parts of their own."""
MAX_LINES: Final = 400_000
"""As many as a mail of 26 MiB has whose files are written in base64."""
MAX_WORK: Final = 1_600_000
"""Lines times nested parts: each line is compared with the end of each."""
MAX_BORDERS: Final = 5_000
"""Lines that may begin or end a part."""

_MAX_PARTS: Final = 100
_MAX_WRITTEN: Final = 5 * MAX_HEADERS
"""Headers that are looked at, those with the same name included."""
_MAX_CONTENT_HEADER: Final = 1_000
_NESTED: Final = re.compile(rb"content-type:\s*(?:multipart|message)/")
# What they take to decode grows with the square of the length, or they decode nothing.
_UNFIT: Final = frozenset({"punycode", "idna", "undefined"})
_FAULTS: Final = (MessageError, ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What the library raises for mails that nobody has thought of."""


class MailUnreadable(ClarionError):
    """A mail is broken, or would take too long to read."""


class _CutHeaders(Compat32):
    """Cuts headers before they are parsed, which takes a time that grows with the square of their length."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[: _MAX_CONTENT_HEADER if name.lower().startswith("content-") else MAX_HEADER]


_POLICY: Final = _CutHeaders()


def read_mime(content: bytes) -> InboundMail:
    """Read a mail: what cannot be read is left out. Raises MailUnreadable if it is too much, or nothing can be read."""
    _check_work(content)
    try:
        return _read(message_from_bytes(content, policy=_POLICY))
    except _FAULTS as error:
        raise MailUnreadable(f"The mail cannot be read: {type(error).__name__}") from error


def clean(text: str) -> str:
    """Return a text that can be stored: without NUL, and valid Unicode."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _check_work(content: bytes) -> None:
    """Raise MailUnreadable if the mail would take more than about a second."""
    lines = content.count(b"\n") + content.count(b"\r") - content.count(b"\r\n")
    nested = len(_NESTED.findall(content.lower()))
    borders = content.count(b"\n--") + content.count(b"\r--")
    if nested > MAX_NESTED or lines > MAX_LINES or lines * (nested + 1) > MAX_WORK or borders > MAX_BORDERS:
        raise MailUnreadable("The mail has too many parts or lines")


def _read(message: Message) -> InboundMail:
    texts: dict[str, str] = {"text/plain": "", "text/html": ""}
    files: list[MailAttachment] = []
    for part in islice(message.walk(), _MAX_PARTS):
        kind = part.get_content_type()
        if part.is_multipart():
            continue
        if kind in texts and _find_file_name(part) is None and part.get_content_disposition() != "attachment":
            texts[kind] = texts[kind] or _read_text(part)
        else:
            files.append(_describe(part))
    return make_mail(_list_headers(message), text=texts["text/plain"], html=texts["text/html"], attachments=files)


def _list_headers(message: Message) -> Iterator[tuple[str, Any]]:
    """Yield the first headers, those that are not in ASCII readable as well."""
    for name, value in islice(message.raw_items(), _MAX_WRITTEN):
        yield name, _POLICY.header_fetch_parse(name, value)


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
        attachments=[_cut(one) for one in attachments[:MAX_ATTACHMENTS]],
    )
    return with_texts(mail, text, html)


def _cut(file: MailAttachment) -> MailAttachment:
    return replace(file, file_name=clean(file.file_name)[:MAX_NAME], content_type=clean(file.content_type)[:MAX_NAME])


def with_texts(mail: InboundMail, text: str, html: str) -> InboundMail:
    text, html = clean(text), clean(html)
    is_cut = max(len(text), len(html)) > MAX_TEXT
    return replace(mail, text=text[:MAX_TEXT], html=html[:MAX_TEXT], is_cut=is_cut)


def read_headers(pairs: Iterable[tuple[Any, Any]]) -> dict[str, str]:
    """Return headers on single lines, by lower-case names; of several with one name, the first."""
    headers: dict[str, str] = {}
    for name, value in pairs:
        if len(headers) >= MAX_HEADERS:
            break
        line = " ".join(clean(str(value)).split())
        headers.setdefault(clean(str(name)[:MAX_NAME]).strip().lower(), line[:MAX_HEADER])
    return headers


def read_addresses(text: str) -> list[MailAddress]:
    """Return the addresses of a header as it is written: names are decoded last, so that none becomes an address."""
    try:
        pairs = getaddresses([text])
    except _FAULTS:
        return []
    return [MailAddress(address=address, name=_decode(name)) for name, address in pairs if "@" in address][:MAX_PEOPLE]


def _decode(text: str) -> str:
    """Decode what is encoded in a header; as it is if that fails."""
    if "=?" not in text:
        return text
    try:
        decoded = str(make_header(decode_header(text)))
    except _FAULTS:
        return text
    return " ".join(clean(decoded).split())


def _read_text(part: Message) -> str:
    raw = _content_of(part)
    try:
        charset = codecs.lookup(part.get_content_charset("utf-8")).name
        return raw.decode("utf-8" if charset in _UNFIT else charset, "replace")
    except _FAULTS:
        return raw.decode("utf-8", "replace")


def _content_of(part: Message) -> bytes:
    try:
        content = part.get_payload(decode=True)
    except _FAULTS:
        return b""
    return content if isinstance(content, bytes) else b""


def _find_file_name(part: Message) -> str | None:
    """Return the name of the file that a part is; empty if it cannot be read, None if it has none."""
    try:
        return part.get_filename()
    except _FAULTS:
        return ""


def _describe(part: Message) -> MailAttachment:
    return MailAttachment(
        file_name=_decode(_find_file_name(part) or ""),
        content_type=part.get_content_type(),
        length=len(_content_of(part)),
    )
