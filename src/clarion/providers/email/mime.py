"""An e-mail in MIME form with 7-bit headers and body, and its SMTP envelope."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.policy import EmailPolicy
from email.utils import format_datetime
from functools import lru_cache

from msgspec import Struct

from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.email.body import write_body
from clarion.providers.email.message import Email


class _Policy(EmailPolicy):
    """Folds headers like the standard library, except for words that are longer than a line.

    The library would encode these, and an encoded URL in List-Unsubscribe does not work.
    """

    def fold_binary(self, name: str, value: str) -> bytes:
        text = str(value)
        if text.isascii() and len(text) < 900 and any(len(word) > 60 for word in text.split()):
            return f"{name}: {text}{self.linesep}".encode("ascii")
        return super().fold_binary(name, value)


_POLICY = _Policy(linesep="\r\n", cte_type="7bit")
_POLICY_UTF8 = _POLICY.clone(utf8=True)
_MAX_LINE = 78


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
    addresses = (email.sender, email.to, *email.cc, *email.bcc, *email.reply_to)
    needs_utf8 = not all(one.username.isascii() and one.domain.isascii() for one in addresses)
    message_id = f"<{email.message_id}@{email.sender.domain}>"
    headers = _merge_headers({**_make_headers(email), "Message-ID": message_id}, email.headers)
    lines = [_write_header(name, text, utf8=needs_utf8) for name, text in headers.items()]
    return MimeMessage(
        message_id=message_id,
        sender=email.sender.addr_spec,
        to=email.to.addr_spec,
        copies=tuple(one.addr_spec for one in (*email.cc, *email.bcc)),
        needs_utf8=needs_utf8,
        content=b"".join(lines) + write_body(email),
    )


def _make_headers(email: Email) -> dict[str, str]:
    """Blind copies are on the envelope only."""
    addresses = {"From": (email.sender,), "To": (email.to,), "Cc": email.cc, "Reply-To": email.reply_to}
    headers = {name: ", ".join(map(str, several)) for name, several in addresses.items() if several}
    date = format_datetime(datetime.fromtimestamp(email.at // 1000, UTC))
    return {**headers, "Subject": email.subject, "Date": date}


def _merge_headers(headers: dict[str, str], added: Mapping[str, str]) -> dict[str, str]:
    """Added headers replace those of the same name in any case."""
    replaced = {name.lower() for name in added}
    return {**{name: text for name, text in headers.items() if name.lower() not in replaced}, **added}


def _write_header(name: str, text: str, *, utf8: bool) -> bytes:
    line = f"{name}: {text}\r\n"
    if line.isascii() and len(line) <= _MAX_LINE and "=?" not in line:
        return line.encode("ascii")
    return _fold_header(name, text, utf8=utf8)


@lru_cache(maxsize=1024)
def _fold_header(name: str, text: str, *, utf8: bool) -> bytes:
    """Fold a header that is too long for one line, or not ASCII."""
    policy = _POLICY_UTF8 if utf8 else _POLICY
    folded: bytes = policy.fold_binary(*policy.header_store_parse(name, text))
    return folded
