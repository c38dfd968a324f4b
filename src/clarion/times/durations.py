"""Lengths of time that values tell: an amount with a unit, or an ISO 8601 duration such as PT30M or P1DT12H."""

import re
from typing import Any, Final

from clarion.clock import Millis
from clarion.times.spans import Unit, end_of

_DURATION: Final = re.compile(
    r"P(?:(?P<years>\d{1,4})Y)?(?:(?P<months>\d{1,5})M)?(?:(?P<weeks>\d{1,5})W)?(?:(?P<days>\d{1,6})D)?"
    r"(?:T(?:(?P<hours>\d{1,8})H)?(?:(?P<minutes>\d{1,9})M)?(?:(?P<seconds>\d{1,10}(?:\.\d{1,3})?)S)?)?",
    re.ASCII,
)


def find_length(value: Any) -> tuple[float, Unit] | None:
    """An amount and a unit, where the value has both."""
    if not isinstance(value, dict):
        return None
    amount, unit = value.get("amount"), value.get("unit")
    if not isinstance(amount, int | float) or isinstance(amount, bool) or amount < 0 or unit not in set(Unit):
        return None
    return amount, Unit(unit)


def find_end(start: Millis, value: Any, zone: str | None) -> Millis | None:
    """Return when a length of time ends that a value tells; None if it tells none."""
    length = find_length(value)
    if length is not None:
        return end_of(start, *length, zone)
    parts = parse_duration(value) if isinstance(value, str) else None
    if parts is None:
        return None
    for amount, unit in parts:
        start = end_of(start, amount, unit, zone)
    return start


def parse_duration(text: str) -> list[tuple[float, Unit]] | None:
    """Return the parts of an ISO 8601 duration from the longest unit to the shortest; None if it is none."""
    match = _DURATION.fullmatch(text.strip())
    if match is None or text.strip().endswith("T"):
        return None
    given = {name: float(amount) for name, amount in match.groupdict().items() if amount is not None}
    if not given:
        return None
    if "years" in given:
        given["months"] = given.pop("years") * 12 + given.get("months", 0)
    return [(given[unit], unit) for unit in reversed(Unit) if unit in given]
