"""The MIME body of an e-mail: text, HTML and files, encoded in ASCII, which every server accepts."""

import base64
import binascii
from email.message import EmailMessage
from email.policy import SMTP

from clarion.providers.email.message import Attachment, Email

_MAX_LINE = 78
_POLICY = SMTP.clone(cte_type="7bit")


def write_body(email: Email) -> bytes:
    """Return the MIME headers, an empty line and the body."""
    if email.attachments:
        return _write_with_files(email)
    if email.html is None:
        return b"MIME-Version: 1.0\r\n" + _write_part("plain", email.text)
    boundary = _boundary(email, 0)
    head = f'MIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary="{boundary}"\r\n\r\n'
    delimiter = f"--{boundary}\r\n".encode()
    parts = _write_part("plain", email.text), _write_part("html", email.html)
    return b"".join([head.encode(), *(delimiter + part + b"\r\n" for part in parts), f"--{boundary}--\r\n".encode()])


def _boundary(email: Email, index: int) -> str:
    """Return the same boundary for every attempt. `=_` occurs in no encoded text, and the id in no plain one."""
    return f"=_clarion-{email.message_id}-{index}"


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


def _write_with_files(email: Email) -> bytes:
    """Use the standard library, which nests files and inline images correctly."""
    message = EmailMessage(policy=_POLICY)
    message.set_content(email.text)
    if email.html is not None:
        message.add_alternative(email.html, subtype="html")
        html_part = message.get_payload(1)
        for attachment in filter(lambda one: one.is_inline, email.attachments):
            _add_inline(html_part, attachment)
    for attachment in email.attachments:
        if email.html is None or not attachment.is_inline:
            main, _, sub = attachment.type.partition("/")
            message.add_attachment(attachment.content, main, sub or "octet-stream", filename=attachment.name)
    for index, part in enumerate(message.walk()):
        if part.is_multipart():
            part.set_boundary(_boundary(email, index))
    return message.as_bytes()


def _add_inline(html_part: object, attachment: Attachment) -> None:
    if isinstance(html_part, EmailMessage):
        main, _, sub = attachment.type.partition("/")
        html_part.add_related(
            attachment.content,
            main,
            sub or "octet-stream",
            cid=f"<{attachment.content_id}>",
            filename=attachment.name,
            disposition="inline",
        )
