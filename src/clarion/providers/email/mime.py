"""An e-mail in MIME form with 7-bit headers and body, which every server accepts, and its SMTP envelope."""

import base64
import binascii
from datetime import UTC, datetime
from email.utils import format_datetime

from msgspec import Struct

from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.email.headers import write_address_header, write_parameter, write_text_header
from clarion.providers.email.message import Attachment, Email

_MAX_LINE = 78
_NON_ASCII = bytes(range(0x80, 0x100))


class MimeMessage(Struct, frozen=True, kw_only=True):
    """The content of an e-mail in MIME form, and its envelope."""

    message_id: str
    sender: str
    to: str
    copies: tuple[str, ...]
    needs_utf8: bool
    content: bytes

    @property
    def recipients(self) -> list[str]:
        return list(dict.fromkeys((self.to, *self.copies)))


def write_mime(email: Email) -> MimeMessage:
    """Encode an e-mail; all attempts give the same bytes, except for the date."""
    try:
        return _write(email)
    except ValueError as error:
        raise SendFailure(FailureKind.PERMANENT, f"The message cannot be written as an e-mail: {error}") from error


def _write(email: Email) -> MimeMessage:
    addresses = (email.sender, *email.all_to, *email.cc, *email.bcc, *email.reply_to)
    message_id = f"<{email.message_id}@{email.sender.domain}>"
    return MimeMessage(
        message_id=message_id,
        sender=email.sender.addr_spec,
        to=email.to.addr_spec,
        copies=tuple(one.addr_spec for one in (*email.to_others, *email.cc, *email.bcc)),
        needs_utf8=not all(one.username.isascii() and one.domain.isascii() for one in addresses),
        content=_write_headers(email, message_id) + write_body(email),
    )


def _write_headers(email: Email, message_id: str) -> bytes:
    """Blind copies are on the envelope only."""
    addresses = {"From": (email.sender,), "To": email.all_to, "Cc": email.cc, "Reply-To": email.reply_to}
    date = format_datetime(datetime.fromtimestamp(email.at // 1000, UTC))
    texts = {"Subject": email.subject, "Date": date, "Message-ID": message_id, **email.headers}
    lines = [write_address_header(name, several) for name, several in addresses.items() if several]
    return b"".join([*lines, *(write_text_header(name, text) for name, text in texts.items())])


def write_body(email: Email) -> bytes:
    """Return the MIME headers, an empty line and the body."""
    is_shown = email.html is not None
    files = [one for one in email.attachments if not (is_shown and one.is_inline)]
    content = _write_content(email, depth=1 if files else 0)
    if files:
        parts = [content, *(_write_file(one, is_inline=False) for one in files)]
        content = _write_multipart(email, "mixed", parts, depth=0)
    return b"MIME-Version: 1.0\r\n" + content


def _write_content(email: Email, *, depth: int) -> bytes:
    """Write the text, and the HTML with the images that it shows."""
    text = _write_part("plain", email.text)
    if email.html is None:
        return text
    shown = _write_part("html", email.html)
    images = [_write_file(one, is_inline=True) for one in email.attachments if one.is_inline]
    if images:
        shown = _write_multipart(email, "related", [shown, *images], depth=depth + 1)
    return _write_multipart(email, "alternative", [text, shown], depth=depth)


def _write_multipart(email: Email, subtype: str, parts: list[bytes], *, depth: int) -> bytes:
    boundary = _boundary(email, depth)
    head = f'Content-Type: multipart/{subtype}; boundary="{boundary}"\r\n\r\n'
    delimiter = f"--{boundary}\r\n".encode()
    return b"".join([head.encode(), *(delimiter + part + b"\r\n" for part in parts), f"--{boundary}--\r\n".encode()])


def _boundary(email: Email, depth: int) -> str:
    """Return the same boundary for every attempt. `=_` occurs in no encoded text, and the id in no plain one."""
    return f"=_clarion-{email.message_id}-{depth}"


def _write_part(subtype: str, text: str) -> bytes:
    lines = text.encode().splitlines()
    encoding, encoded = _encode(lines)
    head = f'Content-Type: text/{subtype}; charset="utf-8"\r\nContent-Transfer-Encoding: {encoding}\r\n\r\n'
    return head.encode() + encoded


def _encode(lines: list[bytes]) -> tuple[str, bytes]:
    """Keep short ASCII lines as they are; use base64 for mostly non-ASCII text, else quoted-printable."""
    whole = b"".join(line + b"\r\n" for line in lines)
    if whole.isascii() and b"\0" not in whole and all(len(line) <= _MAX_LINE for line in lines):
        return "7bit", whole
    non_ascii = len(whole) - len(whole.translate(None, _NON_ASCII))
    if non_ascii * 6 > len(whole):
        return "base64", base64.encodebytes(whole).replace(b"\n", b"\r\n")
    return "quoted-printable", binascii.b2a_qp(whole, istext=True)


def _write_file(file: Attachment, *, is_inline: bool) -> bytes:
    head = [
        f"Content-Type: {file.type}",
        "Content-Transfer-Encoding: base64",
        f"Content-Disposition: {'inline' if is_inline else 'attachment'};\r\n {write_parameter('filename', file.name)}",
        *([f"Content-ID: <{file.content_id}>"] if is_inline else ()),
    ]
    encoded = base64.encodebytes(file.content).replace(b"\n", b"\r\n")
    return "".join(f"{line}\r\n" for line in head).encode("ascii") + b"\r\n" + encoded
