"""E-mail addresses of members: the one rule by which they are accepted and compared.

They are ASCII, and compared in lower case. Other characters are refused, not folded: several of them become, or look
like, the letters of somebody else's address, as the Kelvin sign becomes a `k`.
"""

from typing import NewType

from clarion.errors import Invalid
from clarion.http.wire import EmailText

MemberAddress = NewType("MemberAddress", str)


class MemberEmailText(EmailText):
    __slots__ = ()
    RULE = "must be an e-mail address of ASCII letters, digits and signs such as ada@example.com"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return text.isascii() and super().accepts(text)


def find_address(text: str) -> MemberAddress | None:
    """Return the address as it is stored; None if no member can have it."""
    return MemberAddress(text.lower()) if MemberEmailText.accepts(text) else None


def read_address(text: str) -> MemberAddress:
    """Return the address as it is stored; raises Invalid if no member can have it."""
    address = find_address(text)
    if address is None:
        raise Invalid.field("email", MemberEmailText.RULE, text)
    return address


def domain_of(address: MemberAddress) -> str:
    return address.rpartition("@")[2]
