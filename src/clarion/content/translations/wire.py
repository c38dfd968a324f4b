"""Shapes of translations."""

from collections.abc import Iterable
from typing import Annotated, Any, Self

from msgspec import UNSET, Meta, UnsetType, field

from clarion.clock import iso_text
from clarion.content.translations.groups import ResourceType, TranslationGroup
from clarion.content.translations.model import FlatTexts, Translation, list_outdated
from clarion.content.translations.store import NamedResource
from clarion.http.wire import CheckedText, DateTimeText, UploadedFile, Wire
from clarion.templates.locales import is_regional, normalize_locale

ResourceReference = Annotated[str, Meta(min_length=1, max_length=255)]


class TranslationLocale(CheckedText):
    """Kept as `en_US`, whichever way it is written."""

    __slots__ = ()
    RULE = "must be a language and a region such as en_US"
    EXAMPLE = "de_DE"

    @classmethod
    def accepts(cls, text: str) -> bool:
        locale = normalize_locale(text)
        return locale is not None and len(locale) == len(text) and is_regional(locale)

    @property
    def normal(self) -> str:
        return normalize_locale(self) or str(self)


class TranslationIn(Wire):
    resource_id: ResourceReference
    """The identifier, `_id` or slug of the workflow or layout."""
    resource_type: ResourceType
    """What is translated."""
    locale: TranslationLocale
    """The language and region of the texts; a dash counts as an underscore."""
    content: dict[str, Any]
    """The texts by their keys, flat or nested; they replace all that there are. An object with the members of a plural,
    such as `one` and `other`, is one text with forms."""


class TranslationOut(Wire):
    resource_id: str
    """The identifier of the workflow or layout."""
    resource_type: ResourceType
    """What is translated."""
    locale: str
    """The language and region of the texts."""
    content: dict[str, Any]
    """The texts by their keys."""
    created_at: DateTimeText
    updated_at: DateTimeText

    @classmethod
    def of(cls, resource: NamedResource, translation: Translation) -> Self:
        return cls(
            resource_id=resource.key,
            resource_type=resource.owner.type,
            locale=translation.locale,
            content=dict(translation.content),
            created_at=iso_text(translation.created_at),
            updated_at=iso_text(translation.updated_at),
        )


class LanguageSettings(Wire):
    """The languages of an organization."""

    default_locale: str
    """The language of people who have none, and of texts that are missing in theirs."""
    target_locales: list[str]
    """The languages that texts are translated to."""


class TranslationGroupOut(Wire):
    """The translations of a workflow or layout."""

    resource_id: str
    """The identifier of the workflow or layout."""
    resource_type: ResourceType
    """What is translated."""
    resource_name: str
    """The name of the workflow or layout."""
    locales: list[str]
    """The languages of the organization, and those that there are texts in."""
    created_at: DateTimeText
    updated_at: DateTimeText
    outdated_locales: list[str] | UnsetType = UNSET
    """The target languages that lack texts, or have other keys than the default language; absent if there are none."""

    @classmethod
    def of(
        cls,
        resource: NamedResource,
        group: TranslationGroup,
        languages: LanguageSettings,
        by_locale: dict[str, FlatTexts],
    ) -> Self:
        default, targets = languages.default_locale, languages.target_locales
        return cls(
            resource_id=resource.key,
            resource_type=resource.owner.type,
            resource_name=resource.name,
            locales=_in_order(default, [*targets, *by_locale]),
            created_at=iso_text(group.created_at),
            updated_at=iso_text(group.updated_at),
            outdated_locales=list_outdated(targets, default, by_locale) or UNSET,
        )


class GroupsQuery(Wire):
    query: str | None = None
    """Only workflows and layouts whose name or identifier contains this text, in any case."""
    limit: Annotated[int, Meta(ge=1, le=100)] = 50
    offset: Annotated[int, Meta(ge=0, le=1_000_000)] = 0


class TranslationGroupsOut(Wire):
    data: list[TranslationGroupOut]
    """The groups of this page, by the names of their workflows and layouts."""
    total: int
    """How many groups match in all."""
    limit: int
    """How many groups were asked for."""
    offset: int
    """How many groups were skipped."""


class TranslationsForm(Wire):
    """A form with one file for each language."""

    resource_id: ResourceReference
    """The identifier, `_id` or slug of the workflow or layout."""
    resource_type: ResourceType
    """What is translated."""
    files: list[UploadedFile]
    """JSON files named by their language, such as `en_US.json`; the name of the field may also be `files[]`."""


class TranslationsUploadOut(Wire):
    total_files: int
    """How many files were sent."""
    successful_uploads: int
    """How many of them are translations now."""
    failed_uploads: int
    """How many of them are not."""
    errors: list[str]
    """Why not, in a sentence for each file."""


class MasterQuery(Wire):
    locale: TranslationLocale | None = None
    """The language of the texts; by default the default language of the organization."""


class MasterTexts(Wire):
    """The texts of all workflows and layouts in one language, by their identifiers."""

    workflows: dict[str, dict[str, Any]]
    """The texts of workflows."""
    layouts: dict[str, dict[str, Any]]
    """The texts of layouts."""


class MasterOut(Wire):
    data: MasterTexts
    """The texts of all workflows and layouts."""


class MasterContents(Wire):
    """The texts to import, by the identifiers of workflows and layouts; what is not named stays as it is."""

    workflows: dict[str, Any] = field(default_factory=dict)
    """The texts of workflows."""
    layouts: dict[str, Any] = field(default_factory=dict)
    """The texts of layouts."""


class MasterIn(Wire):
    locale: TranslationLocale
    """The language of the texts."""
    master_json: MasterContents
    """The texts to import."""


class MasterImportOut(Wire):
    success: bool
    """Whether anything was imported."""
    message: str
    """How much was imported, in a sentence."""
    successful: list[str] | UnsetType = UNSET
    """The identifiers of those that were imported; absent if there are none."""
    failed: list[str] | UnsetType = UNSET
    """The identifiers of those that were not, each with the reason; absent if there are none."""

    @classmethod
    def of(cls, done: list[str], failed: list[str]) -> Self:
        if not done and not failed:
            message = "No supported resources found in the file: it needs `workflows` or `layouts` with their texts"
            return cls(success=False, message=message)
        count = f"{len(done)} resource{'' if len(done) == 1 else 's'}"
        if not failed:
            message = f"Imported {count}"
        elif done:
            message = f"Partial import completed: {count} imported, {len(failed)} failed"
        else:
            message = f"Failed to import any resources: {len(failed)} failed"
        return cls(success=bool(done), message=message, successful=done or UNSET, failed=failed or UNSET)


class MasterForm(Wire):
    """A form with one file."""

    file: UploadedFile
    """A JSON file with `workflows` and `layouts`, named by its language, such as `en_US.json`."""


class MasterUploadOut(Wire):
    data: MasterImportOut
    """What became of the file."""


class LanguageTexts(Wire):
    """The texts of workflows and layouts in one language, by their identifiers."""

    workflows: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The texts of workflows."""
    layouts: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The texts of layouts."""

    def of_type(self, kind: ResourceType) -> dict[str, dict[str, Any]]:
        return self.layouts if kind is ResourceType.LAYOUT else self.workflows


class EnvironmentTexts(Wire):
    """The texts of an environment in all languages, as they are exported and imported."""

    locales: dict[str, LanguageTexts]
    """The texts by their languages, such as `de_DE`."""


class TextsImportOut(Wire):
    changed: int
    """How many translations are new or other ones now; each is one language of one workflow or layout."""
    unchanged: int
    """How many were the same before."""
    unused: list[str] | UnsetType = UNSET
    """The workflows and layouts whose texts are kept and not used, because `isTranslationEnabled` is false, such as
    `workflow/order-shipped`; absent if there are none."""


def _in_order(default: str, locales: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([default, *sorted(locales)]))
