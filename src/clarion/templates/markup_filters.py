"""Filters of compiled e-mails: values at the places of markup where escaping alone does not make them safe.

Their names begin with an underscore: templates are compiled to them, people do not write them.
"""

import json
import re
from collections.abc import Callable
from typing import Any, Final

from liquid import Markup, escape
from liquid.exceptions import FilterArgumentError

from clarion.templates.filters import as_text
from clarion.templates.locales import html_lang, normalize_locale, text_direction

_LINK_SCHEMES: Final = frozenset({"http", "https", "mailto", "tel"})
_SOURCE_SCHEMES: Final = frozenset({"http", "https", "cid"})
# Browsers ignore these characters in front of a scheme, and some of them inside.
_IGNORED: Final = re.compile(r"[\x00-\x20\x7f-\xa0\u00ad\u200b-\u200f\u2028-\u202e\u2060\ufeff]+")
_SCHEME: Final = re.compile(r"([^/?#:]*):")
_UNKNOWN_LANGUAGE: Final = "und"


def attribute(value: Any) -> str:
    """`_attribute`: the value between quotes, also if it is safe markup elsewhere."""
    return escape(_plain(value))


def href(value: Any) -> str:
    """`_href`: a whole attribute, or nothing if the link has another scheme than those of mail."""
    return _link_attribute("href", _plain(value).strip(), _LINK_SCHEMES)


def src(value: Any) -> str:
    """`_src`: a whole attribute, or nothing if the picture has another scheme than those of mail."""
    return _link_attribute("src", _plain(value).strip(), _SOURCE_SCHEMES)


def link(value: Any) -> str:
    """`_link`: the address between quotes, empty if it has another scheme than those of mail.

    What is markup already is left as it is: decoding it would read `&section=` in a query as an entity.
    """
    text = as_text(value)
    return escape(text) if has_scheme_of(_plain(text), _LINK_SCHEMES | _SOURCE_SCHEMES) else Markup()


def is_safe_link(address: str) -> bool:
    """Return whether a link has no scheme, or one of those of mail."""
    return has_scheme_of(address, _LINK_SCHEMES)


def is_safe_source(address: str) -> bool:
    """Return whether the address of a picture has no scheme, or one of those of mail."""
    return has_scheme_of(address, _SOURCE_SCHEMES)


def has_scheme_of(address: str, schemes: frozenset[str]) -> bool:
    """Return whether an address has no scheme, or one of these."""
    scheme = _SCHEME.match(_IGNORED.sub("", address))
    return scheme is None or scheme[1].lower() in schemes


def is_shown(value: Any) -> bool:
    """`_is_shown`: false for what is absent, empty, false, zero or null, also as text."""
    if isinstance(value, list | tuple | dict):
        return bool(value)
    text = as_text(value).strip()
    if text in ("", "undefined"):
        return False
    try:
        return bool(json.loads(text)) if len(text) <= 20 else True
    except ValueError:
        return True


def items(value: Any, name: Any = "") -> list[Any] | tuple[Any, ...]:
    """`_items`: the list that a block is repeated for."""
    if isinstance(value, list | tuple):
        return value
    message = f"'{name}' must be a list, because a block is repeated for its items; it is {_describe(value)}"
    raise FilterArgumentError(message, token=None)


def language(value: Any) -> str:
    """`_language`: a locale as the attribute `lang` takes it."""
    locale = normalize_locale(as_text(value).strip())
    return _UNKNOWN_LANGUAGE if locale is None else html_lang(locale)


def direction(value: Any) -> str:
    """`_direction`: in which direction people of a locale write, `ltr` or `rtl`."""
    return text_direction(as_text(value).strip())


def _plain(value: Any) -> str:
    """Return the text of a value without entities: literals of a template count as markup."""
    text = as_text(value)
    return text.unescape() if isinstance(text, Markup) else text


def _link_attribute(name: str, address: str, schemes: frozenset[str]) -> str:
    if not address or not has_scheme_of(address, schemes):
        return Markup()
    return Markup(f' {name}="{escape(address)}"')


def _describe(value: Any) -> str:
    text = as_text(value)
    if text == "" and not isinstance(value, str):
        return "absent"
    return f"the text '{text[:40]}'" if isinstance(value, str) else "no list"


MARKUP_FILTERS: Final[dict[str, Callable[..., Any]]] = {
    "_attribute": attribute,
    "_direction": direction,
    "_href": href,
    "_is_shown": is_shown,
    "_items": items,
    "_language": language,
    "_link": link,
    "_src": src,
}
