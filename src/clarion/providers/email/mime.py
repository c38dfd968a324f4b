"""An e-mail as it goes over SMTP: headers and body in seven bits, and the envelope."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.policy import EmailPolicy
from email.utils import format_datetime
from functools import lru_cache

from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.email.body import write_body
from clarion.providers.email.message import Email


class _Policy(EmailPolicy):
    """Headers as the standard library writes them, but for words longer than a line.

    It would encode these, and a List-Unsubscribe with an encoded URL is none.
    """

    def fold_binary(self, name: str, value: str) -> bytes:
        text = str(value)
        if text.isascii() and len(text) < 900 and any(len(word) > 60 for word in text.split()):
            return f"{name}: {text}{self.linesep}".encode("ascii")
        return super().fold_binary(name, value)


_POLICY = _Policy(linesep="\r\n", cte_type="7bit")
_POLICY_UTF8 = _POLICY.clone(utf8=True)
_MAX_LINE = 78


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """An e-mail and its envelope."""

    message_id: str
    sender: str
    to: str
    copies: tuple[str, ...]
    needs_utf8: bool
    content: bytes

    @property
    def recipients(self) -> list[str]:
        return list(dict.fromkeys((self.to, *self.copies)))


def write_letter(email: Email) -> Letter:
    """The letter of an e-mail: the same bytes at every try, but for the date."""
    try:
        return _write(email)
    except ValueError as error:
        raise SendFailure(FailureKind.PERMANENT, f"The message cannot be written as an e-mail: {error}") from error


def _write(email: Email) -> Letter:
    everybody = (email.sender, email.to, *email.cc, *email.bcc, *email.reply_to)
    needs_utf8 = not all(one.addr_spec.isascii() for one in everybody)
    message_id = f"<{email.message_id}@{email.sender.domain}>"
    headers = _with_own({**_addressed(email), "Message-ID": message_id}, email.headers)
    lines = [_write_header(name, text, utf8=needs_utf8) for name, text in headers.items()]
    return Letter(
        message_id=message_id,
        sender=email.sender.addr_spec,
        to=email.to.addr_spec,
        copies=tuple(one.addr_spec for one in (*email.cc, *email.bcc)),
        needs_utf8=needs_utf8,
        content=b"".join(lines) + write_body(email),
    )


def _addressed(email: Email) -> dict[str, str]:
    """Copies that nobody sees are on the envelope alone."""
    people = {"From": (email.sender,), "To": (email.to,), "Cc": email.cc, "Reply-To": email.reply_to}
    headers = {name: ", ".join(map(str, several)) for name, several in people.items() if several}
    date = format_datetime(datetime.fromtimestamp(email.at // 1000, UTC))
    return {**headers, "Subject": email.subject, "Date": date}


def _with_own(headers: dict[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Of two headers of one name the added one counts."""
    replaced = {name.lower() for name in own}
    return {**{name: text for name, text in headers.items() if name.lower() not in replaced}, **own}


def _write_header(name: str, text: str, *, utf8: bool) -> bytes:
    line = f"{name}: {text}\r\n"
    if line.isascii() and len(line) <= _MAX_LINE and "=?" not in line:
        return line.encode("ascii")
    return _fold_header(name, text, utf8=utf8)


@lru_cache(maxsize=1024)
def _fold_header(name: str, text: str, *, utf8: bool) -> bytes:
    """A header that is too long for a line, or not of ASCII alone."""
    policy = _POLICY_UTF8 if utf8 else _POLICY
    folded: bytes = policy.fold_binary(*policy.header_store_parse(name, text))
    return folded
