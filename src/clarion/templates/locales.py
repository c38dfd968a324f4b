"""Locales: how they are written, which way their script runs, and which languages stand in for each other.

The locale of a person is any text that a caller sent, so that nothing here trusts its form.
"""

import re
from functools import lru_cache
from typing import Final

FALLBACK_LOCALE: Final = "en_US"
MAX_LOCALE: Final = 35
"""Characters of a locale; longer texts are none."""

# Language, script, region; variants and encodings, as in `de_DE.UTF-8` or `ca_ES_valencia`, are left out.
_LOCALE: Final = re.compile(
    r"([a-z]{2,3})(?:[-_]([a-z]{4}))?(?:[-_]([a-z]{2}|[0-9]{3}))?(?:[-_.@][a-z0-9._@-]*)?", re.IGNORECASE | re.ASCII
)
_REGIONAL: Final = re.compile(r"[a-z]{2,3}(_[A-Z][a-z]{3})?_([A-Z]{2}|[0-9]{3})", re.ASCII)

_RIGHT_TO_LEFT: Final = frozenset(
    {"ar", "arc", "ckb", "dv", "fa", "he", "iw", "ji", "ks", "lrc", "mzn", "nqo", "ps", "sd", "syr", "ug", "ur", "yi"}
)
_RIGHT_TO_LEFT_SCRIPTS: Final = frozenset({"Adlm", "Arab", "Aran", "Hebr", "Mand", "Nkoo", "Rohg", "Syrc", "Thaa"})
"""A script wins over the language: Kashmiri in Latin letters runs left to right."""


def normalize_locale(text: str | None) -> str | None:
    """Return a locale as it is kept, such as `en_US` for `en-us`; None if the text is no locale."""
    return _normalize(text) if text and len(text) <= MAX_LOCALE else None


@lru_cache(maxsize=1024)
def _normalize(text: str) -> str | None:
    match = _LOCALE.fullmatch(text)
    if match is None:
        return None
    language, script, region = match.groups()
    parts = (language.lower(), script and script.title(), region and region.upper())
    return "_".join(part for part in parts if part)


def is_regional(locale: str) -> bool:
    """Return whether a normalized locale names a language and a region, as those of translations do."""
    return _REGIONAL.fullmatch(locale) is not None


def language_of(locale: str) -> str:
    """The language of a normalized locale, such as `en`."""
    return locale.partition("_")[0]


def html_lang(locale: str | None) -> str:
    """Return the value of an HTML `lang` attribute, such as `en-US`; that of the fallback if the text is no locale."""
    return (normalize_locale(locale) or FALLBACK_LOCALE).replace("_", "-")


def text_direction(locale: str | None) -> str:
    """Return the value of an HTML `dir` attribute: `rtl` or `ltr`."""
    return _direction_of(normalize_locale(locale) or FALLBACK_LOCALE)


@lru_cache(maxsize=1024)
def _direction_of(locale: str) -> str:
    language, *others = locale.split("_")
    script = next((part for part in others if len(part) == 4), None)
    is_reversed = language in _RIGHT_TO_LEFT if script is None else script in _RIGHT_TO_LEFT_SCRIPTS
    return "rtl" if is_reversed else "ltr"
