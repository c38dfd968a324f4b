"""Header lines of an e-mail in ASCII: folded, and encoded where a reader would take the text for something else.

Texts are written and never parsed: what looks like an encoded word, or like a part of the header's syntax, is text.
"""

import re
from collections.abc import Iterable
from email.header import Header
from email.headerregistry import Address
from functools import lru_cache
from urllib.parse import quote

from clarion.providers.definition.request import is_single_line
from clarion.providers.email.addresses import looks_encoded, quoted

_MAX_LINE = 78
_MAX_WORD = 900
_MAX_PHRASE = 60
_PHRASE = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?: [A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_WORDS = re.compile(r" *[^ ]+")
_UNITS = re.compile(r"%[0-9A-F]{2}|.")


def write_text_header(name: str, text: str) -> bytes:
    """Write a header whose value is free text."""
    line = f"{name}: {text}\r\n"
    if len(line) <= _MAX_LINE and _is_plain(text):
        return line.encode("ascii")
    return _fold_text(name, text)


def write_address_header(name: str, addresses: Iterable[Address]) -> bytes:
    """Write a header with addresses, in UTF-8 if one of them is not ASCII."""
    lines = [f"{name}:"]
    for place, one in enumerate(addresses):
        text = _write_address(one)
        if place:
            lines[-1] += ","
        first, *more = text.split("\r\n")
        if place and len(lines[-1]) + len(first) + 1 > _MAX_LINE:
            lines.append("")
        lines[-1] += f" {first}"
        lines += more
    return "".join(f"{line}\r\n" for line in lines).encode()


def write_parameter(name: str, value: str) -> str:
    """Write a parameter of a MIME header; RFC 2231 has a form for all texts, in parts if they are long."""
    if _is_plain(value) and len(value) <= _MAX_PHRASE:
        return f"{name}={quoted(value)}"
    _check(value)
    encoded = quote(value, safe="")
    if len(encoded) <= _MAX_PHRASE:
        return f"{name}*=utf-8''{encoded}"
    parts = [""]
    for unit in _UNITS.findall(encoded):
        if len(parts[-1]) + len(unit) > _MAX_PHRASE:
            parts.append("")
        parts[-1] += unit
    parts[0] = f"utf-8''{parts[0]}"
    return ";\r\n ".join(f"{name}*{number}*={part}" for number, part in enumerate(parts))


@lru_cache(maxsize=1024)
def _fold_text(name: str, text: str) -> bytes:
    words = _WORDS.findall(text)
    if not _is_plain(text) or any(len(word) > _MAX_WORD for word in words):
        return f"{name}: {_encode(text, len(name) + 2)}\r\n".encode("ascii")
    lines = [f"{name}: {words[0]}"]
    for word in words[1:]:
        if len(lines[-1]) + len(word) > _MAX_LINE:
            lines.append("")
        lines[-1] += word
    return "".join(f"{line}\r\n" for line in lines).encode("ascii")


def _write_address(address: Address) -> str:
    if not address.display_name:
        return address.addr_spec
    return f"{_write_phrase(address.display_name)} <{address.addr_spec}>"


@lru_cache(maxsize=1024)
def _write_phrase(name: str) -> str:
    if not _is_plain(name) or len(name) > _MAX_PHRASE:
        return _encode(name, _MAX_LINE // 2)
    return name if _PHRASE.fullmatch(name) else quoted(name)


def _encode(text: str, start: int) -> str:
    """Return the text as encoded words, on as many lines as they need; `start` is the length of the line before it."""
    _check(text)
    return Header(text, "utf-8", maxlinelen=_MAX_LINE - 2, header_name="x" * max(start - 2, 1)).encode(linesep="\r\n")


def _is_plain(text: str) -> bool:
    """Return whether the text can be written as it is: a reader takes it for nothing else."""
    return text.isascii() and not looks_encoded(text) and is_single_line(text)


def _check(text: str) -> None:
    if not is_single_line(text):
        raise ValueError("a header has control characters or line breaks")
