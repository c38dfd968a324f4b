"""An SMS with a normalised phone number."""

from msgspec import Struct

from clarion.clock import Millis
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.overrides import read_text
from clarion.providers.definition.single_line import to_single_line
from clarion.providers.sms.encoding import is_gsm7
from clarion.providers.sms.numbers import normalise_number

KNOWN = frozenset({"from", "content", "to"})


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
