"""The MIME body of an e-mail: text, HTML and files, encoded in ASCII, which every server accepts."""

import base64
import binascii

from clarion.providers.email.headers import write_parameter
from clarion.providers.email.message import Attachment, Email

_MAX_LINE = 78


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
    non_ascii = sum(byte >= 0x80 for byte in whole)
    if non_ascii * 6 > len(whole):
        return "base64", base64.encodebytes(whole).replace(b"\n", b"\r\n")
    return "quoted-printable", binascii.b2a_qp(whole, istext=True)


def _write_file(one: Attachment, *, is_inline: bool) -> bytes:
    head = [
        f"Content-Type: {one.type}",
        "Content-Transfer-Encoding: base64",
        f"Content-Disposition: {'inline' if is_inline else 'attachment'};\r\n {write_parameter('filename', one.name)}",
        *([f"Content-ID: <{one.content_id}>"] if is_inline else ()),
    ]
    encoded = base64.encodebytes(one.content).replace(b"\n", b"\r\n")
    return "".join(f"{line}\r\n" for line in head).encode("ascii") + b"\r\n" + encoded
