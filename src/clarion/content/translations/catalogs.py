"""The texts that runs use, cached by the version of the configuration: loaded once, merged once for each language."""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Struct

from clarion.cache import CacheSlot
from clarion.clock import Millis
from clarion.content.translations.groups import Translated
from clarion.content.translations.model import FlatTexts, flatten, list_locales, merge
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.environments.configuration import Versioned, get_or_load
from clarion.templates.locales import normalize_locale
from clarion.templates.texts import NO_TEXTS, TextCatalog

MAX_CACHED: Final = 100
"""Workflows and layouts; the texts of each are limited."""

MAX_ASKED: Final = 1000
"""Locales of people whose texts are cached, for each workflow or layout."""

LIST_TEXTS = sql("""
    SELECT t.locale, t.content, g.is_enabled, g.disabled_at FROM translation_groups AS g
    LEFT JOIN translations AS t ON t.environment_id = g.environment_id AND t.resource_type = g.resource_type
        AND t.resource_id = g.resource_id
    WHERE g.environment_id = :environment_id AND g.resource_type = :type AND g.resource_id = :id
        AND (g.is_enabled OR g.disabled_at IS NOT NULL)
""")

_decode = msgspec.json.Decoder(dict[str, object]).decode


class Languages(Struct, frozen=True, kw_only=True, dict=True):
    """The texts of a resource in all languages."""

    is_enabled: bool = False
    disabled_at: Millis | None = None
    """When they were last switched off; None if they never were."""
    by_locale: Mapping[str, FlatTexts] = {}
    merged: dict[tuple[str, ...], TextCatalog] = msgspec.field(default_factory=dict)
    """A cache: there are no more entries than stored languages, whatever the locales of people are."""
    by_asked: dict[tuple[str, str], TextCatalog] = msgspec.field(default_factory=dict)
    """The same catalogs by the locales of people and the default."""

    def find_catalog(self, locale: str, default: str, *, accepted_at: Millis | None = None) -> TextCatalog:
        """Return the texts for people with a locale: each in theirs, else in the same language, else in the default.

        A trigger that was accepted before they were switched off has them, too.
        """
        if not self.is_enabled and not _is_before(accepted_at, self.disabled_at):
            return NO_TEXTS
        catalog = self.by_asked.get((locale, default))
        if catalog is None:
            catalog = self._merge(locale, default)
            if len(self.by_asked) < MAX_ASKED:
                self.by_asked[locale, default] = catalog
        return catalog

    def _merge(self, locale: str, default: str) -> TextCatalog:
        wanted = normalize_locale(locale) or default
        locales = tuple(list_locales(wanted, default, self.by_locale))
        if not locales:
            return NO_TEXTS
        catalog = self.merged.get(locales)
        if catalog is None:
            catalog = self.merged[locales] = merge(locales[0], locales, self.by_locale)
        return catalog


OFF: Final = Languages()

_LANGUAGES: CacheSlot[Translated, Versioned[Languages]] = CacheSlot(limit=MAX_CACHED)


async def get_languages(db: Connection, owner: Translated, version: int) -> Languages:
    """Return the texts of a resource at this version of the configuration of its environment."""
    return await get_or_load(db, _LANGUAGES, owner, version, load_languages)


async def load_languages(db: Connection, owner: Translated) -> Languages:
    """Return the texts of a resource as they are now; those of one whose translations were never on are not read."""
    rows = await db.fetch(LIST_TEXTS, environment_id=owner.environment_id, type=owner.type, id=owner.id)
    if not rows:
        return OFF
    texts = {row["locale"]: flatten(_decode(row["content"])) for row in rows if row["locale"] is not None}
    return Languages(is_enabled=bool(rows[0]["is_enabled"]), disabled_at=rows[0]["disabled_at"], by_locale=texts)


def _is_before(accepted_at: Millis | None, disabled_at: Millis | None) -> bool:
    return accepted_at is not None and disabled_at is not None and accepted_at < disabled_at
