"""The attributes of nodes, checked: nothing but a colour, a size or a known word gets into a style."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from clarion.vocabulary import suggestion

MAX_PIXELS: Final = 2_000

_COLOR: Final = re.compile(
    r"#(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})|[a-zA-Z]{3,24}"
    r"|(?:rgb|hsl)a?\(\s*[\d.]{1,8}(?:deg)?%?(?:\s*[,/ ]\s*[\d.]{1,8}%?){2,3}\s*\)"
)
_LENGTH: Final = re.compile(r"(\d{1,4}(?:\.\d{1,4})?)(px|%)?")
_ALIGNMENTS: Final = ("left", "center", "right")

Report = Callable[[str, str], None]
"""Takes the path of a problem and what is wrong."""


class Attributes:
    """Reads the attributes of one node or mark; what does not fit is reported, and the default is taken."""

    def __init__(self, given: Mapping[str, Any] | None, path: str, report: Report) -> None:
        self._given = given or {}
        self._path = path
        self._report = report

    def text(self, name: str, default: str = "") -> str:
        value = self._given.get(name)
        if value is None:
            return default
        if isinstance(value, str):
            return value
        self.refuse(name, "must be a text")
        return default

    def flag(self, name: str) -> bool:
        value = self._given.get(name)
        if value is None or isinstance(value, bool):
            return bool(value)
        self.refuse(name, "must be true or false")
        return False

    def pixels(self, name: str, default: int) -> int:
        """A number of pixels, which may be text such as `12` or `12px`."""
        length = self._length(name)
        if length is None:
            return default
        number, unit = length
        if unit == "%":
            self.refuse(name, "must be a number of pixels")
            return default
        return round(number)

    def size(self, name: str) -> str:
        """A width or height as a style takes it: empty for `auto`."""
        if self._given.get(name) == "auto":
            return ""
        length = self._length(name)
        return "" if length is None else f"{length[0]:g}{length[1] or 'px'}"

    def percent(self, name: str) -> float | None:
        """A width in percent, with or without the sign; None for `auto`."""
        if self._given.get(name) == "auto":
            return None
        length = self._length(name)
        if length is None:
            return None
        if length[1] == "px" or not 0 < length[0] <= 100:
            self.refuse(name, "must be 'auto' or a width in percent")
            return None
        return length[0]

    def color(self, name: str, default: str) -> str:
        value = self._given.get(name)
        if value is None or value == "":
            return default
        if isinstance(value, str) and _COLOR.fullmatch(value.strip()):
            return value.strip()
        self.refuse(name, "must be a colour such as #1f2937 or rgb(31, 41, 55)")
        return default

    def word(self, name: str, known: Iterable[str], default: str) -> str:
        value = self._given.get(name)
        if value is None or value == "":
            return default
        if isinstance(value, str) and value in (names := tuple(known)):
            return value
        names = tuple(known)
        hint = suggestion(value, names) if isinstance(value, str) else ""
        self.refuse(name, f"must be {' or '.join(names)}{hint}")
        return default

    def alignment(self, name: str, default: str = "") -> str:
        return self.word(name, _ALIGNMENTS, default)

    def number(self, name: str, default: int) -> int:
        value = self._given.get(name)
        if isinstance(value, str) and value.strip().isdecimal() and len(value) < 10:
            value = int(value)
        if value is None or value == "":
            return default
        if isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1 >= 0:
            return int(min(value, 1_000_000))
        self.refuse(name, "must be a whole number")
        return default

    def refuse(self, name: str, message: str) -> None:
        self._report(f"{self._path}.attrs.{name}", message)

    def _length(self, name: str) -> tuple[float, str] | None:
        value = self._given.get(name)
        if value is None or value == "":
            return None
        length = _LENGTH.fullmatch(str(value).strip()) if isinstance(value, str | int | float) else None
        if length is None or isinstance(value, bool) or float(length[1]) > MAX_PIXELS:
            self.refuse(name, f"must be a number of pixels from 0 to {MAX_PIXELS}, or a percentage")
            return None
        return float(length[1]), length[2] or ""
