"""The body of an e-mail: the text, and beside HTML also what it says, written in ASCII that every server takes."""

import base64
import binascii
import secrets

from clarion.providers.email.plain_text import is_html, plain_text

_LONGEST_LINE = 78


def write_body(content: str) -> bytes:
    """The headers about the body, an empty line, and the body."""
    if not is_html(content):
        return b"MIME-Version: 1.0\r\n" + _write_part("plain", content)
    boundary = f"=_{secrets.token_hex(16)}"
    head = f'MIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary="{boundary}"\r\n\r\n'
    mark = f"--{boundary}\r\n".encode()
    parts = _write_part("plain", plain_text(content)), _write_part("html", content)
    return b"".join([head.encode(), *(mark + part + b"\r\n" for part in parts), f"--{boundary}--\r\n".encode()])


def _write_part(subtype: str, text: str) -> bytes:
    lines = text.encode().splitlines()
    encoding, encoded = _encode(lines)
    head = f'Content-Type: text/{subtype}; charset="utf-8"\r\nContent-Transfer-Encoding: {encoding}\r\n\r\n'
    return head.encode() + encoded


def _encode(lines: list[bytes]) -> tuple[str, bytes]:
    """As it is where it may go like that, else in the encoding that most of it stays readable in, or is shorter."""
    whole = b"".join(line + b"\r\n" for line in lines)
    if whole.isascii() and b"\0" not in whole and all(len(line) <= _LONGEST_LINE for line in lines):
        return "7bit", whole
    foreign = sum(byte >= 0x80 for byte in whole)
    if foreign * 6 > len(whole):
        return "base64", base64.encodebytes(whole).replace(b"\n", b"\r\n")
    return "quoted-printable", binascii.b2a_qp(whole, istext=True)
