"""Phone numbers in international form; a missing country code is completed from a known region, never guessed."""

import re
from collections.abc import Iterable

from clarion.providers.definition.result import FailureKind, SendFailure

_SEPARATORS = re.compile(r"[\s\-().\u00a0/]")
# The zero that is dialled within the country: `+44 (0)20 7946 0000`.
_TRUNK_ZERO = re.compile(r"\(\s*0\s*\)")
_NUMBER = re.compile(r"\+?[0-9]{3,15}")
_LONGEST_SHORT_CODE = 6
_LOCALE_REGION = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z]{3}){0,3}(?:[-_][A-Za-z]{4})?[-_]([A-Za-z]{2})(?:[-_].*)?")


def normalise_number(text: str, regions: Iterable[str] = ()) -> str:
    """Convert a number to international form: `0044 20-7946 0000` becomes `+442079460000`.

    A number without a country code is completed from the regions, such as GB, if it is valid in one of them and in no
    other. Short codes stay as they are. Raises SendFailure.
    """
    bare = _bare(text)
    if not _NUMBER.fullmatch(bare):
        raise SendFailure(FailureKind.RECIPIENT_INVALID, "The subscriber's phone number is not one that can be called")
    if bare.startswith("+") or len(bare) <= _LONGEST_SHORT_CODE:
        return bare
    known = list(dict.fromkeys(one for one in regions if one))
    numbers = {number for region in known if (number := complete_number(bare, region))}
    if len(numbers) == 1:
        return numbers.pop()
    raise SendFailure(FailureKind.RECIPIENT_INVALID, f"The phone number has no country code{_problem(known, numbers)}")


def has_country_code(text: str) -> bool:
    """Return whether nothing is missing in front of the number; true for short codes as well."""
    if text.startswith("+"):
        return True
    bare = _bare(text)
    return bare.startswith("+") or len(bare) <= _LONGEST_SHORT_CODE


def complete_number(text: str, region: str) -> str | None:
    """Return the international form of a region's number, or None if there is no such number in the region."""
    return _find_valid(_bare(text), region.upper())


def find_region(locale: str | None) -> str:
    """Return the region of a locale, such as GB of en-GB, or an empty text."""
    found = _LOCALE_REGION.fullmatch(locale) if locale else None
    return found[1].upper() if found else ""


def _bare(text: str) -> str:
    bare = _SEPARATORS.sub("", text)
    if bare.startswith(("+", "00")) and _TRUNK_ZERO.search(text):
        bare = _without_trunk_zero(text)
    return _with_plus(bare)


def _without_trunk_zero(text: str) -> str:
    """Return the number without the zero in brackets, unless it is a part of the numbers of that country (Italy)."""
    dropped = _SEPARATORS.sub("", _TRUNK_ZERO.sub("", text, count=1))
    return _find_valid(_with_plus(_SEPARATORS.sub("", text))) or dropped


def _with_plus(bare: str) -> str:
    return f"+{bare[2:]}" if bare.startswith("00") else bare


def _find_valid(bare: str, region: str | None = None) -> str | None:
    """Return the international form of a number, or None if there is no such number."""
    import phonenumbers  # noqa: PLC0415 - slow to import, and most numbers are complete

    try:
        number = phonenumbers.parse(bare, region)
    except phonenumbers.NumberParseException:
        return None
    if not phonenumbers.is_valid_number(number):
        return None
    return str(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))


def _problem(regions: list[str], numbers: set[str]) -> str:
    way_out = "Write it like +442079460000"
    if not regions:
        return f". {way_out}, or set 'defaultRegion' of the integration, or a locale like en-GB of the subscriber"
    among = " and ".join(regions)
    return f", and is valid in {among}. {way_out}" if numbers else f", and is not valid in {among}. {way_out}"
