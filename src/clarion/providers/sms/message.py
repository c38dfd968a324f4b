"""An SMS with a normalised phone number, and how its text is encoded: GSM-7 or UCS-2, in one part or several."""

from collections.abc import Iterable

from msgspec import Struct

from clarion.clock import Millis
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.overrides import read_text
from clarion.providers.definition.request import to_single_line
from clarion.providers.sms.numbers import normalise_number

KNOWN = frozenset({"from", "content", "to"})
_GSM7 = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
# These need an escape, so each takes two septets.
_GSM7_EXTENSION = frozenset("^{}\\[~]|€\f")


class Sms(Struct, frozen=True, kw_only=True):
    """One SMS to one number."""

    message_id: str
    at: Millis
    """The time of this attempt."""
    to: str
    """In international form with a plus; short codes are without it."""
    sender: str
    """A number, a short code or a name; empty if the account has none."""
    body: str
    receipts_url: str | None = None

    @property
    def to_digits(self) -> str:
        """The number for providers that accept no plus."""
        return self.to.removeprefix("+")

    @property
    def sender_digits(self) -> str:
        return self.sender.removeprefix("+")

    @property
    def is_unicode(self) -> bool:
        """Whether the body has characters outside of the GSM-7 alphabet."""
        return not is_gsm7(self.body)


def read_sms(outgoing: Outgoing, account: Credentials, now: Millis) -> Sms:
    given = outgoing.overrides
    other = read_text(given, "to")
    # The number of a trigger may be of anyone, so the subscriber's region says nothing about it.
    regions = ("" if other else outgoing.phone_region, getattr(account, "default_region", ""))
    sender = given.get("from") or getattr(account, "sender", "")
    return Sms(
        message_id=outgoing.message_id,
        at=now,
        to=normalise_number(other or outgoing.phone or "", regions),
        sender=to_single_line(str(sender)),
        body=read_text(given, "content") or outgoing.content,
        receipts_url=outgoing.receipts_url,
    )


def is_gsm7(text: str) -> bool:
    """Return whether all characters are in the GSM-7 alphabet."""
    return all(character in _GSM7 or character in _GSM7_EXTENSION for character in text)


def count_parts(text: str) -> int:
    """Return the number of parts: 160 septets fit into one, or 153 into each of several; 70 and 67 units in UCS-2."""
    if is_gsm7(text):
        return _parts([2 if character in _GSM7_EXTENSION else 1 for character in text], single=160, several=153)
    return _parts([2 if ord(character) > 0xFFFF else 1 for character in text], single=70, several=67)


def _parts(widths: Iterable[int], *, single: int, several: int) -> int:
    """A character is never split: if it does not fit, it starts the next part."""
    sizes = list(widths)
    if sum(sizes) <= single:
        return 1
    parts, used = 1, 0
    for size in sizes:
        if used + size > several:
            parts, used = parts + 1, 0
        used += size
    return parts
