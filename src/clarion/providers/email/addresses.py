"""Validating e-mail addresses, with or without a display name."""

import re
from email.headerregistry import Address
from functools import lru_cache
from typing import Any

from email_validator import EmailNotValidError, validate_email

from clarion.providers.definition.request import to_single_line

# Simple addresses need no validator, which is slow.
_PLAIN_ADDRESS = re.compile(
    r"(?=.{6,254}\Z)(?P<user>(?=.{1,64}@)[A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*)"
    r"@(?P<domain>(?:(?!..--)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63})"
)
# RFC 2047: `=?charset?encoding?text?=`. Readers are lenient about each part of it.
_ENCODED_WORD = re.compile(r"=\?[^?]*\?[^?]*\?")
_RESERVED_DOMAINS = frozenset({"arpa", "invalid", "local", "localhost", "onion", "test"})


def parse_address(text: Any) -> Address:
    """Return the address, with its name if it has one (`Ada <ada@example.com>`); raises ValueError with the reason.

    The name is any text; one with `<`, `>` or a comma is in quotes.
    """
    plain = _PLAIN_ADDRESS.fullmatch(text) if isinstance(text, str) else None
    if plain is not None and (domain := plain["domain"].lower()).rpartition(".")[2] not in _RESERVED_DOMAINS:
        return Address("", plain["user"], domain)
    return _validate_address(text if isinstance(text, str) else "")


def write_address(address: Address) -> str:
    """Return an address with its name, for providers that write the header themselves."""
    if looks_encoded(address.display_name):
        return f"{quoted(address.display_name)} <{address.addr_spec}>"
    return str(address)


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def looks_encoded(text: str) -> bool:
    """Return whether a reader may take a part of the text for an encoded word, and show something else."""
    return "=?" in text and _ENCODED_WORD.search(text) is not None


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
        return _split(value) if '"' in value else value.split(",")
    return list(value) if isinstance(value, list | tuple) else None


def bare_address(text: str) -> str:
    """Return the address of a text without its name, whether it is valid or not."""
    return _separate(text)[1]


def _split(text: str) -> list[str]:
    """Split at the commas outside of quotes."""
    parts, is_quoted, is_escaped = [""], False, False
    for character in text:
        if character == "," and not is_quoted:
            parts.append("")
            continue
        if character == '"' and not is_escaped:
            is_quoted = not is_quoted
        is_escaped = character == "\\" and not is_escaped
        parts[-1] += character
    return parts


def _separate(text: str) -> tuple[str, str]:
    """Return the name, as it is written, and the address."""
    text = text.strip()
    if not text.endswith(">"):
        return "", text
    name, _, address = text[:-1].rpartition("<")
    return name.strip(), address.strip()


@lru_cache(maxsize=1024)
def _validate_address(text: str) -> Address:
    name, address = _separate(text)
    try:
        # Relays inside of a company accept domains without a dot.
        checked = validate_email(address, check_deliverability=False, globally_deliverable=False)
    except EmailNotValidError as error:
        raise ValueError(str(error)) from error
    username = checked.ascii_local_part or checked.local_part
    if "=?" in username:
        raise ValueError("The part before the @-sign cannot contain =?, by which encoded words begin.")
    return Address(to_single_line(_read_name(name)), username, checked.ascii_domain)


def _read_name(text: str) -> str:
    """Return the name without the quotes around it and the escapes inside of them."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)
    if "<" in text or ">" in text:
        raise ValueError('The name before the address needs quotes: "Ada <x>" <ada@example.com>')
    return text
