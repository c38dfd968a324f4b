"""SMS encodings: GSM-7 or UCS-2, and the number of parts of a text."""

from collections.abc import Iterable

_GSM7 = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
# These need an escape, so each takes two septets.
_GSM7_EXTENSION = frozenset("^{}\\[~]|€\f")


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
