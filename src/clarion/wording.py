"""Words of sentences: counts, and the known name that a mistyped one was probably meant to be."""

from collections.abc import Iterable

_MAX_LENGTH = 64
"""Comparing takes time with the square of the length, and longer names are no typing mistakes."""


def find_nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like `name`, if one is like it at all; case does not count."""
    from difflib import get_close_matches  # noqa: PLC0415 - used for mistakes only

    if len(name) > _MAX_LENGTH:
        return None
    by_folded = {one.casefold().replace("_", ""): one for one in known}
    matches = get_close_matches(name.casefold().replace("_", ""), by_folded, n=1, cutoff=0.7)
    return by_folded[matches[0]] if matches else None


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that asks whether another name was meant; empty if none is like it."""
    nearest = find_nearest(name, known)
    return "" if nearest is None else f"; did you mean '{nearest}'?"


def count_text(count: float, singular: str, many: str) -> str:
    """Return such as "1 run", "3 runs" or "0.5 seconds"."""
    return f"{count:.12g} {singular if count == 1 else many}"
