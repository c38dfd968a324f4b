"""The texts of an environment in all languages: exported whole, and imported whole or not at all."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Final

from msgspec import Struct

from clarion.audit.model import Action, Author
from clarion.audit.recording import record
from clarion.clock import Millis
from clarion.content.translations import store
from clarion.content.translations.actions import audited, write_translations
from clarion.content.translations.groups import ResourceType, list_groups
from clarion.content.translations.model import MAX_PROBLEMS, MAX_TOTAL, Content, find_problems, flatten
from clarion.content.translations.store import NamedResource
from clarion.content.translations.wire import EnvironmentTexts, LanguageTexts, TranslationLocale
from clarion.db.port import Connection
from clarion.environments.configuration import raise_configuration_version
from clarion.errors import Invalid, Malformed, Problem
from clarion.http.limits import MIB
from clarion.ids import EnvironmentId
from clarion.jsontext import json_text
from clarion.templates import weigh_markup
from clarion.templates.locales import normalize_locale

MAX_EXPORT: Final = 8 * MIB
"""Bytes of all texts that one file has."""
MAX_TRANSLATIONS: Final = 10_000
"""Of one file; each is one language of one workflow or layout."""

MAX_CHANGED_MARKUP: Final = 600_000
"""Tags, and the words and signs in them, of all texts that one import changes: they are parsed."""


class ChangedResource(Struct, frozen=True, dict=True):
    """What an import would do to the translations of a workflow or layout."""

    resource: NamedResource
    before: Mapping[str, Content]
    """The stored translations by their locales."""
    given: Mapping[str, Content]
    """Those of the file."""

    @property
    def place(self) -> str:
        """Its place in each language of the file."""
        return f"{self.resource.owner.type}s.{self.resource.key}"

    @cached_property
    def changed(self) -> dict[str, Content]:
        """Those of the file that are not stored yet."""
        return {
            locale: content
            for locale, content in self.given.items()
            if locale not in self.before or json_text(self.before[locale]) != json_text(content)
        }


class TextsImport(Struct, frozen=True):
    """What an import would do, and why it cannot."""

    resources: list[ChangedResource]
    """Always in the same order, so that imports at the same time wait for each other."""
    problems: dict[str, list[Problem]]
    """By the place in the file."""
    unused: list[str]
    """Workflows and layouts whose translations are off, such as `workflow/welcome`."""

    def check(self) -> None:
        """Raise Invalid with all that is wrong; texts are parsed, which takes long for many."""
        problems = self.problems | _find_text_problems(self.resources)
        if problems:
            raise Invalid(dict(islice(problems.items(), MAX_PROBLEMS)))


async def export_texts(db: Connection, environment_id: EnvironmentId) -> EnvironmentTexts:
    """Return all texts of the workflows and layouts of an environment; raises Malformed if they are too many."""
    count, size = await store.count_all(db, environment_id)
    if count > MAX_TRANSLATIONS or size > MAX_EXPORT:
        raise Malformed(
            f"There are {count} translations with {size} bytes, and one file has up to {MAX_TRANSLATIONS} with "
            f"{MAX_EXPORT} bytes; export one language at a time (GET /v2/translations/master-json?locale=)"
        )
    locales: dict[str, LanguageTexts] = {}
    for kind in ResourceType:
        resources = sorted(await store.list_resources(db, environment_id, kind), key=lambda one: one.key)
        ids = [resource.owner.id for resource in resources]
        translations = await store.list_translations_of(db, environment_id, kind, ids) if ids else {}
        for resource in resources:
            for translation in translations.get(resource.owner.id, ()):
                texts = locales.setdefault(translation.locale, LanguageTexts())
                texts.of_type(kind)[resource.key] = dict(translation.content)
    return EnvironmentTexts(locales=dict(sorted(locales.items())))


async def prepare_import(db: Connection, environment_id: EnvironmentId, texts: EnvironmentTexts) -> TextsImport:
    """Compare a file with the stored texts."""
    prepared = TextsImport([], _find_locale_problems(texts), [])
    for kind in ResourceType:
        wanted = await _find_resources(db, environment_id, kind, texts, prepared.problems)
        ids = [resource.owner.id for resource, _ in wanted]
        stored = await store.list_translations_of(db, environment_id, kind, ids) if ids else {}
        groups = await list_groups(db, environment_id, kind, ids) if ids else {}
        for resource, given in wanted:
            before = {one.locale: one.content for one in stored.get(resource.owner.id, ())}
            prepared.resources.append(ChangedResource(resource, before, given))
            if resource.owner.id not in groups or not groups[resource.owner.id].is_enabled:
                prepared.unused.append(f"{kind}/{resource.key}")
    return prepared


async def apply_import(db: Connection, prepared: TextsImport, author: Author, now: Millis) -> None:
    """Write the translations that differ; others stay. They have been checked, or were stored then and are not now."""
    if prepared.problems:
        raise Invalid(prepared.problems)
    changing = [change for change in prepared.resources if change.changed]
    for change in changing:
        await write_translations(db, change.resource.owner, change.changed, now, field=f"locales.*.{change.place}")
        replaced = {locale: change.before[locale] for locale in change.changed if locale in change.before}
        await record(
            db,
            Action.TRANSLATION_UPDATE,
            author,
            now,
            before=audited(change.resource, None, replaced) if replaced else None,
            after=audited(change.resource, None, change.changed),
        )
    if changing:
        await raise_configuration_version(db, changing[0].resource.owner.environment_id)


async def _find_resources(
    db: Connection,
    environment_id: EnvironmentId,
    kind: ResourceType,
    texts: EnvironmentTexts,
    problems: dict[str, list[Problem]],
) -> list[tuple[NamedResource, dict[str, Content]]]:
    """The workflows or layouts that a file names, with their texts by locale; adds to the problems."""
    references = dict.fromkeys(key for language in texts.locales.values() for key in language.of_type(kind))
    resources = await store.list_resources_by_reference(db, environment_id, kind, list(references))
    wanted: dict[bytes, tuple[NamedResource, dict[str, Content]]] = {}
    for locale, language in texts.locales.items():
        for reference, content in language.of_type(kind).items():
            resource = resources.get(reference)
            if resource is None:
                message = f"is no {kind} of this environment; create it first, or leave it out"
            else:
                contents = wanted.setdefault(resource.owner.id, (resource, {}))[1]
                message = f"is the {kind} '{resource.key}', which is named twice"
                if contents.setdefault(normalize_locale(locale) or locale, content) is content:
                    continue
            problems[f"locales.{locale}.{kind}s.{reference}"] = [Problem(message)]
    return [wanted[resource_id] for resource_id in sorted(wanted)]


def _find_locale_problems(texts: EnvironmentTexts) -> dict[str, list[Problem]]:
    count = sum(len(language.of_type(kind)) for language in texts.locales.values() for kind in ResourceType)
    if count > MAX_TRANSLATIONS:
        message = f"has {count} translations, which is more than {MAX_TRANSLATIONS}"
        raise Invalid.field("locales", message)
    problems: dict[str, list[Problem]] = {}
    known: dict[str, str] = {}
    for locale in texts.locales:
        if not TranslationLocale.accepts(locale):
            problems[f"locales.{locale}"] = [Problem(TranslationLocale.RULE)]
        elif (other := known.setdefault(TranslationLocale(locale).normal, locale)) != locale:
            problems[f"locales.{locale}"] = [Problem(f"is the same language as '{other}'")]
    return problems


def _find_text_problems(resources: Sequence[ChangedResource]) -> dict[str, list[Problem]]:
    texts = (text for one in resources for content in one.changed.values() for text in flatten(content).values())
    weight = sum(weigh_markup(form) for text in texts for form in ([text] if isinstance(text, str) else text.values()))
    if weight > MAX_CHANGED_MARKUP:
        message = f"changes texts with more than {MAX_CHANGED_MARKUP} words and signs in tags; import fewer at a time"
        return {"locales": [Problem(message)]}
    problems: dict[str, list[Problem]] = {}
    for place, message in islice(_list_text_problems(resources), MAX_PROBLEMS):
        problems.setdefault(place, []).append(Problem(message))
    return problems


def _list_text_problems(resources: Sequence[ChangedResource]) -> Iterator[tuple[str, str]]:
    for change in resources:
        name = change.place
        total = sum(len(json_text(content)) for content in {**change.before, **change.given}.values())
        if total > MAX_TOTAL:
            yield f"locales.*.{name}", f"has {total} characters in all languages, which is more than {MAX_TOTAL}"
        for locale, content in change.changed.items():
            place = f"locales.{locale}.{name}"
            yield from ((f"{place}.{key}" if key else place, problem) for key, problem in find_problems(content))
