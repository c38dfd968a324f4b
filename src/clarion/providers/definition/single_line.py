"""Removing line breaks from header values: a line break would start another header."""

import re

_BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")


def is_single_line(text: str) -> bool:
    return _BREAKS.search(text) is None


def to_single_line(text: str) -> str:
    """Replace every run of control characters and line breaks with one space."""
    return _BREAKS.sub(" ", text).strip()
