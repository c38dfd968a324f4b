"""`t` in a template: texts in the language of the person, which are templates themselves.

A text is rendered over the variables of the template that refers to it, and is a value there: it is escaped where
values are, and nothing in it or in its variables is read as a template again.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from liquid.exceptions import LiquidError
from msgspec import Struct

from clarion.templates.local_filters import plural_category
from clarion.templates.locales import FALLBACK_LOCALE

NAME: Final = "t"
MAX_DEPTH: Final = 5
"""How many texts may stand inside of each other."""
MAX_NOTED: Final = 20
"""Missing keys that are told."""

_REFERENCE: Final = re.compile(r"\bt(?:\.|\[|\s*\}\})")

Forms = Mapping[str, str]
"""The texts for numbers, by the categories of CLDR; `other` is always there."""


class TranslatedText(NamedTuple):
    """A text, and the locale that it is written in."""

    text: str | Forms
    locale: str


class TextCatalog(Struct, frozen=True, kw_only=True):
    """The texts of a workflow or layout for people of one language: each in theirs, or in the next best."""

    locale: str = FALLBACK_LOCALE
    """The locale that was asked for."""
    texts: Mapping[str, TranslatedText] = {}
    """By their keys, such as `welcome.title`."""


NO_TEXTS: Final = TextCatalog()


class PluralText(str):
    """A text with forms where no number is given; filters find the forms by its key."""

    __slots__ = ("key",)
    key: str


Render = Callable[[str, Mapping[str, Any]], str]


class Texts:
    """What `t` is while the texts of one step are rendered; notes what was missing and which languages were used."""

    __slots__ = ("_open", "_render", "catalog", "locales", "missing")

    def __init__(self, catalog: TextCatalog, render: Render) -> None:
        self.catalog = catalog
        self.missing: dict[str, None] = {}
        self.locales: dict[str, None] = {}
        self._open: list[str] = []
        self._render = render

    def __str__(self) -> str:
        return ""

    def write(self, key: str, variables: Mapping[str, Any]) -> str:
        """Return a text; the key itself if there is none."""
        entry = self._use(key)
        if entry is None:
            return self._note_missing(key)
        if isinstance(entry.text, str):
            return self._render_text(key, entry.text, variables)
        shown = PluralText(self._render_text(key, entry.text["other"], variables))
        shown.key = key
        return shown

    def find_plain(self, key: str) -> str | None:
        """Return a text that is no template, or None."""
        entry = self._use(key)
        return entry.text if entry is not None and isinstance(entry.text, str) and "{" not in entry.text else None

    def write_for(self, number: Any, key: str, variables: Mapping[str, Any]) -> str:
        """Return the form of a text for a number, which is `count` in it."""
        entry = self._use(key)
        if entry is None:
            return self._note_missing(key)
        text = entry.text if isinstance(entry.text, str) else _choose(entry.text, number, entry.locale)
        return self._render_text(key, text, {**variables, "count": number})

    def has(self, key: str) -> bool:
        return find_text(self.catalog.texts, key) is not None

    def _use(self, key: str) -> TranslatedText | None:
        entry = find_text(self.catalog.texts, key)
        if entry is not None:
            self.locales[entry.locale] = None
        return entry

    def _render_text(self, key: str, text: str, variables: Mapping[str, Any]) -> str:
        if "{" not in text:
            return text
        if key in self._open:
            raise LiquidError(f"texts refer to each other in a circle: {' → '.join([*self._open, key])}", token=None)
        if len(self._open) >= MAX_DEPTH:
            chain = " → ".join(self._open)
            raise LiquidError(f"more than {MAX_DEPTH} texts stand inside of each other: {chain}", token=None)
        self._open.append(key)
        try:
            return self._render(text, variables)
        finally:
            self._open.pop()

    def _note_missing(self, key: str) -> str:
        if len(self.missing) < MAX_NOTED:
            self.missing[key] = None
        return key


def may_refer_to_texts(template: str) -> bool:
    """Return whether a template may have a text of `t`; what else looks like one only costs a look-up."""
    return _REFERENCE.search(template) is not None


def find_text(texts: Mapping[str, TranslatedText], key: str) -> TranslatedText | None:
    """Return a text by its key; `inbox.one` is a form of `inbox` if that has forms."""
    entry = texts.get(key)
    if entry is None:
        whole, _, category = key.rpartition(".")
        outer = texts.get(whole)
        if outer is not None and not isinstance(outer.text, str) and category in outer.text:
            return TranslatedText(outer.text[category], outer.locale)
    return entry


def join_key(path: Sequence[object]) -> str:
    """The key that a path of a template names, without the leading `t`."""
    return ".".join(str(part) for part in path[1:])


def _choose(forms: Forms, number: Any, locale: str) -> str:
    # Most languages have no form for zero, and authors may want one.
    if number == 0 and not isinstance(number, bool) and "zero" in forms:
        return forms["zero"]
    return forms.get(plural_category(number, locale), forms["other"])
