"""Filters that write numbers, amounts, moments and lists as people of the reader's language and time zone do.

They read `locale` and the time zone of `subscriber`. Babel is loaded when a text first uses one of them.
"""

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal, cast
from zoneinfo import ZoneInfo

from liquid import RenderContext
from liquid.exceptions import FilterArgumentError
from liquid.filter import with_context
from liquid.undefined import is_undefined

from clarion.templates.filters import as_text, find_moment
from clarion.templates.locales import FALLBACK_LOCALE, language_of, normalize_locale

if TYPE_CHECKING:
    from babel import Locale

_MAX_MAGNITUDE: Final = 60
"""Digits before or after the point of a number that is written out."""
_MAX_SKELETON: Final = 20
_MAX_COUNT: Final = 100_000
"""Counts whose forms of plural are cached."""
MAX_LOCALES: Final = 64
"""Locales that are kept: loading one takes 10 ms."""
MAX_BABEL_LOCALES: Final = 2 * MAX_LOCALES
"""Those that Babel keeps, with the ones that they inherit from."""
_MAX_LISTED: Final = 1_000
"""Items: Babel copies the text for each."""
_STYLES: Final = frozenset({"short", "medium", "long", "full"})
_UNIT_LENGTHS: Final = frozenset({"short", "long", "narrow"})
_LIST_STYLES: Final = {"and": "standard", "or": "or"}

_ANY_MOMENT: Final = datetime(2026, 1, 1, tzinfo=UTC)


@with_context
def decimal(value: Any, digits: Any = None, *, context: RenderContext) -> str:
    """`decimal`, `decimal: 2`: "1,234.5", "1.234,50"; with a count, exactly so many digits behind the point."""
    from babel.numbers import format_decimal  # noqa: PLC0415 - loaded when it is used

    pattern = None if digits is None else f"#,##0{_fraction(digits)}"
    number = _find_number(value)
    if number is None:
        return _unchanged(value)
    return format_decimal(number, format=pattern, locale=locale_of(context))


@with_context
def percent(value: Any, digits: Any = 0, *, context: RenderContext) -> str:
    """`percent`: 0.25 is "25%", "25 %"."""
    from babel.numbers import format_percent  # noqa: PLC0415 - loaded when it is used

    fraction = _fraction(digits)
    number = _find_number(value)
    if number is None:
        return _unchanged(value)
    locale = locale_of(context)
    pattern = locale.percent_formats[None].pattern.replace("#,##0", f"#,##0{fraction}")
    return format_percent(number, format=pattern, locale=locale)


@with_context
def currency(value: Any, code: Any, *, context: RenderContext) -> str:
    """`currency: "EUR"`: "€1,234.50", "1.234,50 €"."""
    from babel.numbers import format_currency  # noqa: PLC0415 - loaded when it is used

    name = str(code).strip().upper()
    if len(name) != 3 or not (name.isascii() and name.isalpha()):
        raise FilterArgumentError(f"'{name[:20]}' is not a currency such as EUR", token=None)
    number = _find_number(value)
    if number is None:
        return _unchanged(value)
    return format_currency(number, name, locale=locale_of(context))


@with_context
def unit(value: Any, name: Any, length: Any = "long", *, context: RenderContext) -> str:
    """`unit: "kilometer"`, `unit: "kilometer", "short"`: "3 kilometers", "3 km"."""
    from babel.units import UnknownUnitError, format_unit  # noqa: PLC0415 - loaded when it is used

    if str(length) not in _UNIT_LENGTHS:
        raise FilterArgumentError("the length of a unit is long, short or narrow", token=None)
    shown = cast('Literal["short", "long", "narrow"]', str(length))
    number = _find_number(value)
    try:
        # Also where there is no number, so that an unknown unit is a problem whatever the value.
        text = format_unit(number or 0, str(name)[:64], length=shown, locale=locale_of(context))
    except UnknownUnitError:
        raise FilterArgumentError(f"'{str(name)[:64]}' is not a unit such as kilometer", token=None) from None
    return _unchanged(value) if number is None else text


@with_context
def local_datetime(value: Any, style: Any = "medium", *, context: RenderContext) -> str:
    """`datetime: "short"`: "7/1/26, 12:30 PM", "01.07.26, 12:30"; or a skeleton such as "yMMMd"."""
    from babel.dates import format_datetime  # noqa: PLC0415 - loaded when it is used

    return _format_moment(value, style, context, format_datetime)


@with_context
def local_date(value: Any, style: Any = "medium", *, context: RenderContext) -> str:
    """`local_date: "long"`: "July 1, 2026", "1. Juli 2026"."""
    from babel.dates import format_date  # noqa: PLC0415 - loaded when it is used

    return _format_moment(value, style, context, format_date)


@with_context
def local_time(value: Any, style: Any = "short", *, context: RenderContext) -> str:
    """`local_time`: "12:30 PM", "12:30"."""
    from babel.dates import format_time  # noqa: PLC0415 - loaded when it is used

    return _format_moment(value, style, context, format_time)


@with_context
def local_list(value: Any, kind: Any = "and", *, context: RenderContext) -> str:
    """`local_list`, `local_list: "or"`: "Ada, Bob, and Eve", "Ada, Bob und Eve"."""
    from babel.lists import format_list  # noqa: PLC0415 - loaded when it is used

    style = _LIST_STYLES.get(str(kind))
    if style is None:
        raise FilterArgumentError("a list is joined by 'and' or 'or'", token=None)
    if not isinstance(value, list | tuple):
        return _unchanged(value)
    if len(value) > _MAX_LISTED:
        raise FilterArgumentError(f"a list of more than {_MAX_LISTED} items is not written out", token=None)
    return format_list([as_text(item) for item in value], style=style, locale=locale_of(context))  # type: ignore[arg-type]


def locale_of(context: RenderContext) -> "Locale":
    """The locale of the person whom a text is rendered for."""
    given = context.resolve("locale")
    return find_locale(given if isinstance(given, str) else FALLBACK_LOCALE)


def find_locale(text: str) -> "Locale":
    """Return the data of a locale: of its language if the region is unknown, else of the fallback."""
    return _load_locale(normalize_locale(text) or FALLBACK_LOCALE)


@lru_cache(maxsize=MAX_LOCALES)
def _load_locale(wanted: str) -> "Locale":
    from babel import Locale, UnknownLocaleError  # noqa: PLC0415 - loaded when it is used

    _limit_babel()
    for name in (wanted, language_of(wanted)):
        try:
            return Locale.parse(name)
        except (UnknownLocaleError, ValueError):
            continue
    return Locale.parse(FALLBACK_LOCALE)


def _limit_babel() -> None:
    """Let Babel forget the data of locales: it keeps 0.25 MB of each that was ever used, and people may have any."""
    from babel import localedata  # noqa: PLC0415 - loaded when it is used

    # There is no public way. What is in use has its data by itself.
    with localedata._cache_lock:  # noqa: SLF001
        if len(localedata._cache) > MAX_BABEL_LOCALES:  # noqa: SLF001
            localedata._cache.clear()  # noqa: SLF001


def plural_category(number: Any, locale: str) -> str:
    """Return the form of plural that a language has for a number, such as `one`, `few` or `other`."""
    if type(number) is int and 0 <= number <= _MAX_COUNT:
        return _category_of_count(number, locale)
    found = _find_number(number)
    return "other" if found is None else find_locale(locale).plural_form(abs(found))


@lru_cache(maxsize=1024)
def _category_of_count(count: int, locale: str) -> str:
    return find_locale(locale).plural_form(count)


def _format_moment(value: Any, style: Any, context: RenderContext, write: Callable[..., str]) -> str:
    name = str(style)
    # Patterns are not taken: Babel keeps each one for ever, and `date` has them.
    is_skeleton = len(name) <= _MAX_SKELETON and name.isascii() and name.isalpha()
    moment = None if value is None or is_undefined(value) else find_moment(value, _zone_of(context))
    if name in _STYLES:
        return _unchanged(value) if moment is None else write(moment, name, locale=locale_of(context))
    shown = _format_skeleton(moment or _ANY_MOMENT, name, context) if is_skeleton else None
    if shown is None:
        message = f"'{name[:_MAX_SKELETON]}' is not short, medium, long, full, or a skeleton such as yMMMd"
        raise FilterArgumentError(message, token=None)
    return _unchanged(value) if moment is None else shown


def _format_skeleton(moment: datetime, skeleton: str, context: RenderContext) -> str | None:
    from babel.dates import format_skeleton  # noqa: PLC0415 - loaded when it is used

    try:
        return format_skeleton(skeleton, moment, locale=locale_of(context))
    except (KeyError, AttributeError):
        return None


def _zone_of(context: RenderContext) -> tzinfo:
    subscriber = context.resolve("subscriber")
    name = subscriber.get("timezone") if isinstance(subscriber, dict) else None
    try:
        return ZoneInfo(name) if isinstance(name, str) and name else UTC
    except (ValueError, OSError, LookupError):
        return UTC


def _find_number(value: Any) -> Decimal | None:
    """Return a number that can be written out, or None; texts are read as JSON writes numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    if isinstance(value, str) and len(value) > _MAX_MAGNITUDE:
        return None
    if isinstance(value, int) and value.bit_length() > 4 * _MAX_MAGNITUDE:
        return None
    try:
        number = Decimal(value if isinstance(value, int | Decimal) else str(value).strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= _MAX_MAGNITUDE else None


def _fraction(digits: Any) -> str:
    if isinstance(digits, bool) or not isinstance(digits, int) or not 0 <= digits <= 20:
        raise FilterArgumentError("the count of digits is a whole number from 0 to 20", token=None)
    return f".{'0' * digits}" if digits else ""


def _unchanged(value: Any) -> str:
    """What cannot be formatted is shown as it is."""
    return as_text(value)
