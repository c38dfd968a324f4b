"""An SMS with a normalised phone number."""

import re

from msgspec import Struct

from clarion.clock import Millis
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.overrides import read_text
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.definition.single_line import to_single_line
from clarion.providers.sms.encoding import is_gsm7

KNOWN = frozenset({"from", "content", "to"})


class Sms(Struct, frozen=True, kw_only=True):
    """One SMS to one number."""

    message_id: str
    at: Millis
    """The time of this attempt."""
    to: str
    """In international form with a plus; without a plus if the country is unknown, as for short codes."""
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
    sender = given.get("from") or getattr(account, "sender", "")
    return Sms(
        message_id=outgoing.message_id,
        at=now,
        to=normalise_number(read_text(given, "to") or outgoing.phone or ""),
        sender=to_single_line(str(sender)),
        body=read_text(given, "content") or outgoing.content,
        receipts_url=outgoing.receipts_url,
    )


def normalise_number(text: str) -> str:
    """Convert a number to international form: `0044 20-7946 0000` becomes `+442079460000`."""
    bare = re.sub(r"[\s\-().\u00a0/]", "", text)
    if bare.startswith("00"):
        bare = "+" + bare[2:]
    if not re.fullmatch(r"\+?[0-9]{3,15}", bare):
        raise SendFailure(FailureKind.RECIPIENT_INVALID, "The subscriber's phone number is not one that can be called")
    # A leading zero means a local number, and short numbers are short codes: their country is unknown.
    is_international = not bare.startswith(("+", "0")) and len(bare) >= 8
    return f"+{bare}" if is_international else bare
