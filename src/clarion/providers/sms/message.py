"""A text message: the number as providers take it, and a body that knows how it travels."""

import re
from dataclasses import dataclass

from clarion.clock import Millis
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.definition.single_line import one_line
from clarion.providers.sms.encoding import is_gsm7

KNOWN = frozenset({"from", "content", "to"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Sms:
    """One text to one number."""

    message_id: str
    at: Millis
    """The moment of this try."""
    to: str
    """In international form with a plus; without one only where it cannot be told, as for short codes."""
    sender: str
    """A number, a short code or a name; empty where the account has none."""
    body: str
    receipts_url: str | None = None

    @property
    def to_digits(self) -> str:
        """For providers that take no plus."""
        return self.to.removeprefix("+")

    @property
    def sender_digits(self) -> str:
        return self.sender.removeprefix("+")

    @property
    def is_unicode(self) -> bool:
        """Does it need more than the alphabet that all telephones know?"""
        return not is_gsm7(self.body)


def read_sms(outgoing: Outgoing, account: Credentials, now: Millis) -> Sms:
    sender = outgoing.overrides.get("from") or getattr(account, "sender", "")
    return Sms(
        message_id=outgoing.message_id,
        at=now,
        to=normalise_number(outgoing.phone or ""),
        sender=one_line(str(sender)),
        body=outgoing.content,
        receipts_url=outgoing.receipts_url,
    )


def normalise_number(text: str) -> str:
    """The number in international form: `0044 20-7946 0000` becomes `+442079460000`."""
    bare = re.sub(r"[\s\-().\u00a0/]", "", text)
    if bare.startswith("00"):
        bare = "+" + bare[2:]
    if not re.fullmatch(r"\+?[0-9]{3,15}", bare):
        raise SendFailure(FailureKind.RECIPIENT_INVALID, "The subscriber's phone number is not one that can be called")
    # Numbers that begin with a single zero are local, and short ones are short codes: nobody knows their country.
    is_international = not bare.startswith(("+", "0")) and len(bare) >= 8
    return f"+{bare}" if is_international else bare
