"""How a text travels as SMS: in the 7-bit alphabet of GSM or in UCS-2, and in how many parts."""

from collections.abc import Iterable

_GSM7 = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
# Reached by an escape, so that each of them takes two places.
_GSM7_EXTENSION = frozenset("^{}\\[~]|€\f")


def is_gsm7(text: str) -> bool:
    """Can every character be sent in the alphabet that all telephones know?"""
    return all(character in _GSM7 or character in _GSM7_EXTENSION for character in text)


def count_parts(text: str) -> int:
    """How many messages the text becomes: 160 places, or 153 each of several; 70 and 67 in UCS-2."""
    if is_gsm7(text):
        return _parts([2 if character in _GSM7_EXTENSION else 1 for character in text], single=160, several=153)
    return _parts([2 if ord(character) > 0xFFFF else 1 for character in text], single=70, several=67)


def _parts(widths: Iterable[int], *, single: int, several: int) -> int:
    """A character is never cut in two: one that does not fit begins the next part."""
    sizes = list(widths)
    if sum(sizes) <= single:
        return 1
    parts, used = 1, 0
    for size in sizes:
        if used + size > several:
            parts, used = parts + 1, 0
        used += size
    return parts
