"""An e-mail in MIME form with 7-bit headers and body, and its SMTP envelope."""

from datetime import UTC, datetime
from email.utils import format_datetime

from msgspec import Struct

from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.email.body import write_body
from clarion.providers.email.headers import write_address_header, write_text_header
from clarion.providers.email.message import Email


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
