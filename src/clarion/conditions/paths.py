"""Paths such as `room.members.0` into JSON values."""

import re
from enum import Enum
from typing import Any, Final, Literal


class Missing(Enum):
    """The type of MISSING, which differs from null."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING

_INDEX = re.compile(r"\[(\d{1,9})\]")
_PATH = re.compile(r"[^.\[\]{}|%]+(\.[^.\[\]{}|%]+|\[\d{1,9}\])*")


def is_path(text: str) -> bool:
    """Returns whether a text is a valid path: members separated by dots, list indexes as `.0` or `[0]`."""
    return _PATH.fullmatch(text) is not None


def split_path(path: str) -> list[str]:
    return (_INDEX.sub(r".\1", path) if "[" in path else path).split(".")


def find_value(value: Any, path: str) -> Any | Literal[Missing.MISSING]:
    """The value at `path`, or MISSING; never raises."""
    return follow(value, split_path(path))


def follow(value: Any, parts: list[str]) -> Any | Literal[Missing.MISSING]:
    for part in parts:
        if isinstance(value, dict):
            if part not in value:
                return MISSING
            value = value[part]
        elif isinstance(value, list | tuple) and part.isascii() and part.isdigit() and int(part[:9]) < len(value):
            value = value[int(part[:9])]
        else:
            return MISSING
    return value
