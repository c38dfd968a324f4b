"""Translations as records: the texts of a workflow or layout in one language, and which of them a person reads.

Keys are flat or nested and mean the same: `{"welcome": {"title": "…"}}` is `welcome.title`. An object whose members are
all categories of plural of CLDR, `other` among them, is one text with forms for numbers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Any, Final, TypeAlias

from msgspec import Struct

from clarion.cache import BoundedCache
from clarion.clock import Millis
from clarion.ids import EnvironmentId, OrganizationId
from clarion.jsontext import encode_json
from clarion.templates import check_template, weigh_markup
from clarion.templates.locales import language_of
from clarion.templates.texts import Forms, TextCatalog, TranslatedText

Content: TypeAlias = Mapping[str, Any]
"""Texts as they are sent and kept."""
FlatTexts: TypeAlias = Mapping[str, str | Forms]
"""Texts by their whole keys."""
Found: TypeAlias = tuple[str, str]
"""A key, and what is wrong with its text."""

MAX_CONTENT: Final = 256 * 1024
"""Bytes of one translation as JSON."""
MAX_TOTAL: Final = 2 * 1024 * 1024
"""Characters of all translations of one workflow or layout: workers keep those that are in use."""
MAX_TEXTS: Final = 2_000
"""Of one translation."""
MAX_TEXT: Final = 16 * 1024
"""Characters of one text."""
MAX_KEY: Final = 256
"""Characters of a whole key."""
MAX_MARKUP: Final = 60_000
"""Tags, and the words and signs in them, of all texts of one translation."""
MAX_NESTING: Final = 8
MAX_PROBLEMS: Final = 50
"""How many problems of a translation are told."""

MAX_CHECKED: Final = 1_024
"""Translations whose problems are kept."""

CATEGORIES: Final = ("zero", "one", "two", "few", "many", "other")


class Translation(Struct, frozen=True, kw_only=True):
    """The texts of a resource in one language."""

    resource_id: bytes
    locale: str
    content: Content
    created_at: Millis
    updated_at: Millis


class AuditedTranslation(Struct, frozen=True, kw_only=True):
    """A translation, or the switch of all of a resource, as the audit log shows it."""

    environment_id: EnvironmentId
    path: str
    """Where the API has it, such as `workflow/welcome/en_US`."""
    is_enabled: bool | None = None
    content: Content | None = None


class AuditedLanguages(Struct, frozen=True, kw_only=True):
    """The languages of an organization, as the audit log shows them."""

    organization_id: OrganizationId
    default_locale: str
    target_locales: Sequence[str]


def flatten(content: Content) -> dict[str, str | Forms]:
    """Return the texts by their whole keys; what is no text is left out."""
    return {key: value for key, value in _walk(content, "", 0) if isinstance(value, str) or is_plural(value)}


def is_plural(value: Any) -> bool:
    """Return whether an object has the forms of one text instead of several texts."""
    return (
        isinstance(value, Mapping)
        and "other" in value
        and all(name in CATEGORIES and isinstance(text, str) for name, text in value.items())
    )


def find_problems(content: Content) -> Sequence[Found]:
    """Return what is wrong with the texts of a translation, each with its key.

    Templates are parsed, which takes long for many; the result is kept for the next who asks.
    """
    encoded = encode_json(content)
    if len(encoded) > MAX_CONTENT:
        return [("", f"has {len(encoded)} bytes, which is more than the {MAX_CONTENT} of one translation")]
    digest = blake2b(encoded, digest_size=16).digest()
    problems = _checked.get(digest)
    if problems is None:
        problems = _find_problems(content)
        _checked.put(digest, problems)
    return problems


def list_locales(wanted: str, default: str, available: Iterable[str]) -> list[str]:
    """Return the languages in which a text is looked for: the person's, others of the same language, the default.

    Of several regions of the language, the default comes first, then the one that is named like the language.
    """
    stored = list(available)
    language = language_of(wanted)
    same = [one for one in stored if language_of(one) == language and one != wanted]
    own = language.upper()
    same.sort(key=lambda one: (one != default, one.rpartition("_")[2] != own, one))
    return [one for one in dict.fromkeys((wanted, *same, default)) if one in stored]


def merge(wanted: str, locales: Sequence[str], by_locale: Mapping[str, FlatTexts]) -> TextCatalog:
    """Return for each key the text of the first language that has it."""
    texts: dict[str, TranslatedText] = {}
    for locale in reversed(locales):
        texts |= {key: TranslatedText(text, locale) for key, text in by_locale[locale].items()}
    return TextCatalog(locale=wanted, texts=texts)


def list_outdated(targets: Iterable[str], default: str, by_locale: Mapping[str, FlatTexts]) -> list[str]:
    """Return the target languages that lack a translation, or whose keys are not those of the default language."""
    keys = by_locale.get(default, {}).keys()
    return [one for one in targets if one != default and (one not in by_locale or by_locale[one].keys() != keys)]


def _find_problems(content: Content) -> Sequence[Found]:
    texts = list(islice(_walk(content, "", 0), MAX_TEXTS + 1))
    if len(texts) > MAX_TEXTS:
        return [("", f"has more than the {MAX_TEXTS} texts of one translation")]
    return list(islice(_list_problems(texts), MAX_PROBLEMS))


def _walk(content: Content, prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield each text with its whole key, and what is neither a text nor an object of them."""
    for name, value in content.items():
        key = f"{prefix}.{name}" if prefix else name
        if isinstance(value, Mapping) and not is_plural(value) and depth < MAX_NESTING:
            yield from _walk(value, key, depth + 1)
        else:
            yield key, value


def _list_problems(texts: Sequence[tuple[str, Any]]) -> Iterator[Found]:
    known: set[str] = set()
    weight = 0
    for key, value in texts:
        weight += sum(map(weigh_markup, _forms_of(value)))
        if weight > MAX_MARKUP:
            yield "", f"has tags with more than {MAX_MARKUP} words and signs together"
            return
        if key in known:
            yield key, "is given twice, flat and nested"
        elif not key or len(key) > MAX_KEY or not key.isprintable() or not {"{", "}"}.isdisjoint(key):
            yield key[:MAX_KEY], f"must be a key of 1 to {MAX_KEY} characters without braces and line breaks"
        else:
            yield from ((key, problem) for problem in _list_value_problems(value))
        known.add(key)


def _forms_of(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value.values()) if is_plural(value) else []


def _list_value_problems(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from _list_text_problems(value)
    elif is_plural(value):
        for name, text in value.items():
            yield from (f"has a form '{name}' that {problem}" for problem in _list_text_problems(text))
    elif isinstance(value, Mapping):
        yield f"is nested deeper than {MAX_NESTING} levels"
    else:
        yield "must be a text, an object of texts, or the forms of a text for numbers"


def _list_text_problems(text: str) -> Iterator[str]:
    if len(text) > MAX_TEXT:
        yield f"is longer than {MAX_TEXT} characters"
    elif (problem := check_template(text)) is not None:
        yield problem


_checked: Final[BoundedCache[bytes, Sequence[Found]]] = BoundedCache(limit=MAX_CHECKED)
