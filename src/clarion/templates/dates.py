"""The filter `date`: a moment as text, in a time zone if one is given."""

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from liquid import Environment, Markup
from liquid.builtin.filters import misc
from liquid.exceptions import FilterArgumentError
from liquid.filter import with_environment
from liquid.undefined import is_undefined

_USUAL = "%A, %B %-e, %Y at %-l:%M %P %z"
_MAX_OFFSET_MINUTES = 24 * 60


@with_environment
def date(value: Any, layout: Any = _USUAL, zone: Any = None, *, environment: Environment) -> str:
    """`date: "%H:%M", "Europe/Berlin"`: the time there; a number is the minutes that the zone is behind UTC."""
    if value is None:
        return ""
    found = _find_zone(zone)
    moment = None if found is None or is_undefined(value) else _find_moment(value, found)
    if moment is None or is_undefined(layout):
        shown: str = misc.date(value, layout, environment=environment)
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


def _find_moment(value: Any, zone: tzinfo) -> datetime | None:
    """Return the moment as it is in the zone, or None if the value is none; one without a zone of its own is UTC."""
    if isinstance(value, str) and value in ("now", "today"):
        return datetime.now(zone)
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return datetime.fromtimestamp(value, zone)
    moment = misc._to_date(value)  # noqa: SLF001 - the texts that the filter of the library reads
    if moment is None:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(zone)
