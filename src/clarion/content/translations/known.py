"""What saving and previewing know of the texts of a workflow: whether they are used, and which keys there are."""

from collections.abc import Mapping

from msgspec import Struct

from clarion.content.environment import DEFAULT_LOCALE
from clarion.content.translations.catalogs import load_languages
from clarion.content.translations.groups import Translated, is_translation_enabled
from clarion.content.translations.languages import find_options
from clarion.db.port import Connection
from clarion.templates import make_texts
from clarion.templates.texts import Texts, TranslatedText, find_text
from clarion.vocabulary import suggestion


class KnownTexts(Struct, frozen=True, kw_only=True):
    """The texts of a workflow or layout in the default language, which those of other languages fall back to."""

    is_enabled: bool = False
    default_locale: str = DEFAULT_LOCALE
    texts: Mapping[str, TranslatedText] = {}

    def find_problem(self, key: str) -> str | None:
        """Return why a key has no text for everyone, with the way out, or None."""
        if not self.is_enabled:
            return "translations are off; set isTranslationEnabled to true"
        if find_text(self.texts, key) is not None:
            return None
        return f"there is no text for it in {self.default_locale}, the default language{suggestion(key, self.texts)}"


async def get_known_texts(db: Connection, owner: Translated, *, with_keys: bool) -> KnownTexts:
    """Return what is known of the texts of a resource; without keys, only whether they are used."""
    if not with_keys:
        return KnownTexts(is_enabled=await is_translation_enabled(db, owner))
    languages = await load_languages(db, owner)
    default = (await find_options(db, owner.environment_id)).default_locale
    texts = {key: TranslatedText(text, default) for key, text in languages.by_locale.get(default, {}).items()}
    return KnownTexts(is_enabled=languages.is_enabled, default_locale=default, texts=texts)


async def find_texts(db: Connection, owner: Translated, locale: object) -> Texts:
    """Return what `t` is in previews of a resource for people with a locale, which may be anything."""
    languages = await load_languages(db, owner)
    default = (await find_options(db, owner.environment_id)).default_locale
    return make_texts(languages.find_catalog(locale if isinstance(locale, str) else default, default))
