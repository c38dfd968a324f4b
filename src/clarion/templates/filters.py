"""The filters that existing dashboards use beyond those of Liquid."""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from liquid import Environment, Markup
from liquid.builtin.filters import misc
from liquid.exceptions import FilterArgumentError
from liquid.filter import with_environment
from liquid.undefined import Undefined, is_undefined

from clarion.conditions.values import MISSING, find_value

_DEFAULT_LIMIT = 2
"""How many names a sentence lists before it counts the others."""

_USUAL = "%A, %B %-e, %Y at %-l:%M %P %z"
_MAX_OFFSET_MINUTES = 24 * 60


def to_json(value: Any, indent: Any = None) -> str:
    """`json`: the value as JSON text, absent as null; `json: 2` indents."""
    spaces = indent if isinstance(indent, int) and 0 < indent <= 8 else None
    separators = None if spaces else (",", ":")
    return json.dumps(value, ensure_ascii=False, separators=separators, indent=spaces, default=_plain)


def pluralize(value: Any, singular: Any = "", plural: Any = "") -> str:
    """`pluralize: "event", "events"`: "1 event", "3 events"; empty without a positive number; counts list items."""
    count = count_of(value)
    if count <= 0:
        return ""
    word = _word(singular) if count == 1 else _word(plural) or _plural(_word(singular))
    number = int(count) if count == int(count) else count
    return f"{number} {word}".rstrip()


def to_sentence(  # noqa: PLR0913, PLR0917 - the order of arguments is that of existing templates
    value: Any,
    path: Any = "",
    limit: Any = _DEFAULT_LIMIT,
    others: Any = "other",
    comma: Any = ", ",
    both: Any = " and ",
    last: Any = ", and ",
) -> str:
    """`toSentence: "name", 2, "other"`: "Ada", "Ada and Bob", "Ada, Bob, and 3 others"."""
    words, listed = _words(value, path), _limit(limit)
    if len(words) <= 1:
        return "".join(words)
    if len(words) == 2:
        return str(both).join(words)
    if listed >= len(words):
        return str(comma).join(words[:-1]) + str(last) + words[-1]
    rest = f"{len(words) - listed} {_word(others) if len(words) - listed == 1 else _plural(_word(others))}"
    return str(comma).join(words[:listed]) + (str(both) if listed == 1 else str(last)) + rest


def digest(value: Any, limit: Any = _DEFAULT_LIMIT, path: Any = "", comma: Any = ", ") -> str:
    """`digest: 2, "name"`: as toSentence, without a comma before "and": "Ada, Bob and 3 others"."""
    return to_sentence(value, path, limit, "other", comma, " and ", " and ")


def as_text(value: Any) -> str:
    """Convert a value to the text that a template writes: objects as JSON, lists as their concatenated items."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, Undefined):
        return ""
    if isinstance(value, list | tuple):
        return "".join(map(as_text, value))
    if isinstance(value, range):
        return f"{value.start}..{value.stop - 1}"
    return to_json(value) if isinstance(value, dict) else str(value)


def _plain(value: Any) -> Any:
    match value:
        case Undefined():
            return None
        case Decimal():
            return float(value)
        case range() | tuple():
            return list(value)
        case Mapping():
            return dict(value)
        case _:
            return str(value)


def count_of(value: Any) -> int | float:
    """Return the number that a value is, or how many items it has."""
    match value:
        case list() | tuple() | range() | Mapping():
            return len(value)
        case bool():
            return int(value)
        case int() | float():
            return value if math.isfinite(value) else 0
        case str():
            return _number(value)
        case _:
            return 0


def _number(text: str) -> int | float:
    try:
        number = float(text)
    except ValueError:
        return 0
    return number if math.isfinite(number) else 0


def _words(value: Any, path: Any) -> list[str]:
    if not isinstance(value, list | tuple):
        return []
    name = _word(path)
    found = (find_value(item, name) for item in value) if name else value
    return ["" if item is MISSING else as_text(item) for item in found]


def _limit(limit: Any) -> int:
    if isinstance(limit, int | str) and str(limit).isdecimal() and int(str(limit)[:9]) > 0:
        return int(str(limit)[:9])
    raise FilterArgumentError("the limit must be a whole number above zero", token=None)


def _word(value: Any) -> str:
    return "" if value is None or isinstance(value, Undefined) else str(value)


def _plural(word: str) -> str:
    """Return the regular English plural."""
    lower = word.lower()
    if not word or lower.endswith("others"):
        return word
    if lower.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if lower.endswith("y") and lower[-2:-1] not in tuple("aeiou"):
        return word[:-1] + "ies"
    return word + "s"


@with_environment
def date(value: Any, layout: Any = _USUAL, zone: Any = None, *, environment: Environment) -> str:
    """`date: "%H:%M", "Europe/Berlin"`: the time there; a number is the minutes that the zone is behind UTC."""
    if value is None:
        return ""
    found = _find_zone(zone)
    moment = None if found is None or is_undefined(value) else find_moment(value, found)
    if moment is None or is_undefined(layout):
        try:
            shown: str = misc.date(value, layout, environment=environment)
        except (OSError, OverflowError):
            raise FilterArgumentError(f"{str(value)[:40]} is not a moment", token=None) from None
        return shown
    # Not by the library's function, which takes the same moment in two zones for one.
    text = moment.strftime(str(layout))
    return Markup(text) if isinstance(layout, Markup) else text


def _find_zone(zone: Any) -> tzinfo | None:
    """Return None where none is given, as for a person without a time zone."""
    if zone is None or zone == "" or is_undefined(zone):
        return None
    if isinstance(zone, int | float) and abs(zone) < _MAX_OFFSET_MINUTES:
        return timezone(-timedelta(minutes=zone))
    try:
        return ZoneInfo(str(zone))
    except (ValueError, OSError, LookupError):
        raise FilterArgumentError(f"'{zone}' is not a time zone such as Europe/Berlin", token=None) from None


def find_moment(value: Any, zone: tzinfo) -> datetime | None:
    """Return the moment as it is in the zone, or None if the value is none; one without a zone of its own is UTC."""
    if isinstance(value, str) and value in ("now", "today"):
        return datetime.now(zone)
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, zone)
        except (OSError, OverflowError, ValueError):
            return None
    moment = misc._to_date(value)  # noqa: SLF001 - the texts that the filter of the library reads
    if moment is None:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(zone)
