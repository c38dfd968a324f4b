"""Suppressed addresses as records, and when two spellings are one address."""

import contextlib
import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

from clarion.clock import Millis
from clarion.ids import EnvironmentId, MessageId
from clarion.vocabulary import Channel

MAX_ADDRESS = 320
SUPPRESSED_CHANNELS = (Channel.EMAIL, Channel.SMS)
"""Those whose messages go to an address that is the same for every integration."""

_NAMED = re.compile(r".*<([^<>]*)>\s*", re.DOTALL)
_NOT_DIGITS = re.compile(r"[^0-9]")
_ABROAD = re.compile(r"^(00)+")


class SuppressionReason(StrEnum):
    BOUNCED = "bounced"
    COMPLAINED = "complained"
    UNSUBSCRIBED = "unsubscribed"
    MANUAL = "manual"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """An address that is not written to, and why."""

    environment_id: EnvironmentId
    channel: Channel
    address: str
    """Folded."""
    reason: SuppressionReason
    provider_id: str | None = None
    message_id: MessageId | None = None
    detail: str | None = None
    created_at: Millis


def fold_address(channel: Channel, text: str) -> str:
    """The one spelling of an address by which it is compared; empty where the text is none.

    E-mail addresses differ in case by the letter of their standard, and nowhere else. Phone numbers are their
    digits, whether they are written with a plus or with two zeros.
    """
    text = unicodedata.normalize("NFKC", text).replace("\0", "")
    if channel is Channel.EMAIL:
        return _fold_email(text)
    return _ABROAD.sub("", _NOT_DIGITS.sub("", text)) if channel is Channel.SMS else text.strip()


def is_address(channel: Channel, folded: str) -> bool:
    """Can a folded text be written to at all?"""
    if not 0 < len(folded) <= MAX_ADDRESS:
        return False
    local, at, domain = folded.rpartition("@")
    return channel is not Channel.EMAIL or bool(local and at and domain and folded.isprintable())


def _fold_email(text: str) -> str:
    named = _NAMED.fullmatch(text)
    local, at, domain = (named[1] if named else text).strip().lower().rpartition("@")
    if not domain.isascii():
        # One that is no name that could be looked up is compared as it stands.
        with contextlib.suppress(UnicodeError):
            domain = domain.encode("idna").decode()
    return f"{local}{at}{domain}"
