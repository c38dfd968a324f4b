"""Texts that must stay on one line: what breaks a line in a header would begin another header."""

import re

_BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")


def one_line(text: str) -> str:
    """The text with every control character and line break as one space."""
    return _BREAKS.sub(" ", text).strip()
