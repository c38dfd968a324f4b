"""Suppressed addresses as records, and the normalization of addresses."""

import contextlib
import hashlib
import re
import unicodedata
from enum import StrEnum

from msgspec import Struct

from clarion.clock import Millis
from clarion.ids import EnvironmentId, MessageId
from clarion.vocabulary import Channel

MAX_ADDRESS = 320
SUPPRESSED_CHANNELS = (Channel.EMAIL, Channel.SMS)
"""The channels whose addresses are the same for every integration."""

_NAMED = re.compile(r".*<([^<>]*)>\s*", re.DOTALL)
_NOT_DIGITS = re.compile(r"[^0-9]")
_HASH_PREFIX = "sha256:"
_ABROAD = re.compile(r"^(00)+")


class SuppressionReason(StrEnum):
    BOUNCED = "bounced"
    COMPLAINED = "complained"
    UNSUBSCRIBED = "unsubscribed"
    """Does not stop e-mails of critical workflows."""
    MANUAL = "manual"


class Suppression(Struct, frozen=True, kw_only=True):
    """An address that nothing is sent to, and why."""

    environment_id: EnvironmentId
    channel: Channel
    address: str
    """Normalized by `fold_address`."""
    reason: SuppressionReason
    provider_id: str | None = None
    message_id: MessageId | None = None
    detail: str | None = None
    created_at: Millis


def fold_address(channel: Channel, text: str) -> str:
    """Normalize an address for comparison; the result is empty if the text is no address.

    E-mail addresses are lower-cased: the standard distinguishes case, but no mail server does. Phone numbers are
    reduced to their digits, whether they are written with a plus or with two zeros.
    """
    text = unicodedata.normalize("NFKC", text).replace("\0", "")
    if channel is Channel.EMAIL:
        return _fold_email(text)
    return _ABROAD.sub("", _NOT_DIGITS.sub("", text)) if channel is Channel.SMS else text.strip()


def list_address_forms(environment_id: EnvironmentId, channel: Channel, text: str) -> list[str]:
    """Return an address as suppressions may have it: normalized, and as the hash that stays of an erased person."""
    if text.startswith(_HASH_PREFIX):
        return [text, text]
    folded = fold_address(channel, text)
    return [folded, hash_address(environment_id, channel, folded)]


def hash_address(environment_id: EnvironmentId, channel: Channel, folded: str) -> str:
    """Hash a normalized address; the same address has another hash in another environment."""
    digest = hashlib.sha256(environment_id + f"{channel}:{folded}".encode(errors="surrogatepass"))
    return f"{_HASH_PREFIX}{digest.hexdigest()}"


def mask_address(channel: Channel, address: str) -> str:
    """Return what people need to recognize an address, and too little to write to it."""
    if channel is Channel.EMAIL:
        local, _, domain = address.rpartition("@")
        return f"{local[:1]}***@{domain}"
    return f"***{address[-3:]}"


def is_address(channel: Channel, folded: str) -> bool:
    """Return whether a normalized text can be an address of the channel."""
    if not 0 < len(folded) <= MAX_ADDRESS:
        return False
    local, at, domain = folded.rpartition("@")
    return channel is not Channel.EMAIL or bool(local and at and domain and folded.isprintable())


def _fold_email(text: str) -> str:
    named = _NAMED.fullmatch(text)
    local, at, domain = (named[1] if named else text).strip().lower().rpartition("@")
    if not domain.isascii():
        # A domain that is no valid name is compared as it is.
        with contextlib.suppress(UnicodeError):
            domain = domain.encode("idna").decode()
    return f"{local}{at}{domain}"
