"""An e-mail out of a message: addresses, headers, and the text for readers without HTML."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.headerregistry import Address
from email.policy import EmailPolicy
from email.utils import format_datetime
from functools import lru_cache
from typing import Any

from email_validator import EmailNotValidError, validate_email

from clarion.clock import Millis
from clarion.providers.base import FailureKind, Outgoing, SendFailure
from clarion.providers.email.body import write_body

# Addresses whose parts nobody has to look at twice; all others are for the validator.
_PLAIN_ADDRESS = re.compile(
    r"(?=.{6,254}\Z)(?P<user>(?=.{1,64}@)[A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*)"
    r"@(?P<domain>(?:(?!..--)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63})"
)
_NO_DOMAINS = frozenset({"arpa", "invalid", "local", "localhost", "onion", "test"})
_HEADER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,75}")
_OURS = frozenset({"from", "to", "cc", "bcc", "sender", "return-path", "message-id", "mime-version", "subject", "date"})


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
_LONGEST_LINE = 78


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


def write_letter(outgoing: Outgoing, now: Millis) -> Letter:
    """The e-mail of a message, sender and copies as its credentials and overrides say."""
    try:
        return _write(outgoing, now)
    except ValueError as error:
        raise SendFailure(FailureKind.PERMANENT, f"The message cannot be written as an e-mail: {error}") from error


def _write(outgoing: Outgoing, now: Millis) -> Letter:
    overrides = outgoing.overrides
    sender, to = _sender(outgoing), _recipient(outgoing.email)
    copies, blind = _addresses(overrides, "cc"), _addresses(overrides, "bcc")
    reply_to = _addresses(overrides, "replyTo")
    needs_utf8 = not all(one.addr_spec.isascii() for one in (sender, to, *copies, *blind, *reply_to))
    message_id = f"<{outgoing.message_id}@{sender.domain}>"
    headers: dict[str, Any] = {"From": (sender,), "To": (to,)}
    # Copies that nobody sees are on the envelope alone.
    headers |= {name: addresses for name, addresses in (("Cc", copies), ("Reply-To", reply_to)) if addresses}
    headers |= {
        "Subject": _one_line(outgoing.subject or ""),
        "Date": format_datetime(datetime.fromtimestamp(now // 1000, UTC)),
        "Message-ID": message_id,
    }
    lines = [_write_header(name, value, utf8=needs_utf8) for name, value in _with_overrides(headers, overrides).items()]
    return Letter(
        message_id=message_id,
        sender=sender.addr_spec,
        to=to.addr_spec,
        copies=tuple(one.addr_spec for one in (*copies, *blind)),
        needs_utf8=needs_utf8,
        content=b"".join(lines) + write_body(outgoing.content),
    )


def _sender(outgoing: Outgoing) -> Address:
    text = outgoing.overrides.get("from") or outgoing.credentials.get("from") or ""
    address = _parse_address("from", text)
    name = outgoing.overrides.get("senderName") or address.display_name or outgoing.credentials.get("senderName") or ""
    return Address(_one_line(str(name)), address.username, address.domain)


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
    if plain is not None and (domain := plain["domain"].lower()).rpartition(".")[2] not in _NO_DOMAINS:
        return Address("", plain["user"], domain)
    return _validate_address(name, text if isinstance(text, str) else "")


@lru_cache(maxsize=1024)
def _validate_address(name: str, text: str) -> Address:
    try:
        # Relays of a company's own network know names without a dot.
        found = validate_email(
            text,
            allow_display_name=True,
            check_deliverability=False,
            globally_deliverable=False,
        )
    except EmailNotValidError as error:
        raise SendFailure(FailureKind.PERMANENT, f"'{name}' is not an e-mail address: {error}") from error
    username = found.ascii_local_part or found.local_part
    return Address(_one_line(found.display_name or ""), username, found.ascii_domain)


def _one_line(text: str) -> str:
    """A line break in a header would begin another header."""
    return " ".join(re.split(r"[\x00-\x1f\x7f\x85\u2028\u2029]+", text)).strip()


def _with_overrides(headers: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The headers with those that the overrides add; of two of one name the added one counts."""
    added = given.get("headers")
    if not isinstance(added, Mapping):
        return headers
    for name, value in added.items():
        if not _HEADER_NAME.fullmatch(name) or name.lower() in _OURS or name.lower().startswith("content-"):
            raise SendFailure(FailureKind.PERMANENT, f"The header '{name}' cannot be set by overrides")
        headers = {known: kept for known, kept in headers.items() if known.lower() != name.lower()}
        headers[name] = _one_line(str(value))
    return headers


def _write_header(name: str, value: str | tuple[Address, ...], *, utf8: bool) -> bytes:
    text = value if isinstance(value, str) else ", ".join(map(str, value))
    line = f"{name}: {text}\r\n"
    if line.isascii() and len(line) <= _LONGEST_LINE and "=?" not in line:
        return line.encode("ascii")
    return _fold_header(name, text, utf8=utf8)


@lru_cache(maxsize=1024)
def _fold_header(name: str, text: str, *, utf8: bool) -> bytes:
    """A header that is too long for a line, or not of ASCII alone."""
    policy = _POLICY_UTF8 if utf8 else _POLICY
    folded: bytes = policy.fold_binary(*policy.header_store_parse(name, text))
    return folded
