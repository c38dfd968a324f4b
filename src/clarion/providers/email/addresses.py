"""Validating e-mail addresses, with or without a display name."""

import re
from email.headerregistry import Address
from functools import lru_cache
from typing import Any

from email_validator import EmailNotValidError, validate_email

from clarion.providers.definition.single_line import to_single_line

# Simple addresses need no validator, which is slow.
_PLAIN_ADDRESS = re.compile(
    r"(?=.{6,254}\Z)(?P<user>(?=.{1,64}@)[A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*)"
    r"@(?P<domain>(?:(?!..--)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63})"
)
_RESERVED_DOMAINS = frozenset({"arpa", "invalid", "local", "localhost", "onion", "test"})


def parse_address(text: Any) -> Address:
    """Return the address; raises ValueError with the reason if it is none."""
    plain = _PLAIN_ADDRESS.fullmatch(text) if isinstance(text, str) else None
    if plain is not None and (domain := plain["domain"].lower()).rpartition(".")[2] not in _RESERVED_DOMAINS:
        return Address("", plain["user"], domain)
    return _validate_address(text if isinstance(text, str) else "")


def find_address_problem(text: str) -> str | None:
    """Return what is wrong with an address, or None."""
    try:
        parse_address(text)
    except ValueError as error:
        return f"is not an e-mail address: {error}"
    return None


def split_addresses(value: Any) -> list[Any] | None:
    """Return the addresses of a list, or of a text with commas between them; None if the value is neither."""
    if isinstance(value, str):
        return value.split(",")
    return list(value) if isinstance(value, list | tuple) else None


@lru_cache(maxsize=1024)
def _validate_address(text: str) -> Address:
    try:
        # Relays inside of a company accept domains without a dot.
        found = validate_email(
            text,
            allow_display_name=True,
            check_deliverability=False,
            globally_deliverable=False,
        )
    except EmailNotValidError as error:
        raise ValueError(str(error)) from error
    username = found.ascii_local_part or found.local_part
    return Address(to_single_line(found.display_name or ""), username, found.ascii_domain)
