"""Texts as files: several languages of one workflow or layout, or one language of all of them."""

import asyncio
from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from msgspec import Struct

from clarion.content.translations import actions, store
from clarion.content.translations.files import find_locale_of, read_texts, shown_name
from clarion.content.translations.groups import ResourceType
from clarion.content.translations.languages import get_languages_of
from clarion.content.translations.model import Content, find_problems
from clarion.content.translations.wire import (
    MasterContents,
    MasterForm,
    MasterImportOut,
    MasterIn,
    MasterOut,
    MasterQuery,
    MasterTexts,
    MasterUploadOut,
    TranslationsForm,
    TranslationsUploadOut,
)
from clarion.db.port import Connection
from clarion.errors import Invalid, Malformed
from clarion.http.limits import MIB
from clarion.http.operation import Call, DetachedCall, Transaction, operation
from clarion.http.wire import UploadedFile
from clarion.ids import EnvironmentId
from clarion.vocabulary import Scope

SECTION = "Translations"
MAX_MASTER = 8 * MIB
"""Bytes of the texts of all workflows and layouts in one language."""
MAX_RESOURCES = 500
"""Workflows and layouts of one import."""


async def _check_files(_: DetachedCall, form: TranslationsForm) -> None:
    # Texts are parsed, which takes long for many; the operation finds the results.
    await asyncio.to_thread(_read_files, form.files)


@operation(
    "POST",
    "/v2/translations/upload",
    scope=Scope.WORKFLOWS_WRITE,
    form=TranslationsForm,
    body_limit=MAX_MASTER,
    precheck=_check_files,
)
async def upload_translations(call: Call, form: TranslationsForm) -> TranslationsUploadOut:
    """Make or replace translations of a workflow or layout by JSON files, one for each language.

    The languages must be those of the organization. Files that cannot be used are told, and the others are taken.
    """
    resource = await store.get_resource(call.db, call.environment_id, form.resource_type, form.resource_id)
    files = _read_files(form.files)
    if all(file.locale is None for file in files):
        _refuse("The files have invalid names or formats: each is named by its language, such as en_US.json", files)
    await _check_configured(call.db, call.environment_id, files)
    if all(file.problem is not None for file in files):
        _refuse("No valid translation files were found", files)
    errors = [file.sentence for file in files if file.problem is not None]
    for file in files:
        if file.problem is None and file.locale is not None:
            try:
                await actions.put_translation(call, resource, file.locale, file.content)
            except Invalid as error:
                errors.append(f"Failed to process file '{file.name}': {error.message}")
    failed = len(errors)
    return TranslationsUploadOut(
        total_files=len(files), successful_uploads=len(files) - failed, failed_uploads=failed, errors=errors
    )


@operation(
    "GET",
    "/v2/translations/master-json",
    scope=Scope.WORKFLOWS_READ,
    query=MasterQuery,
    transaction=Transaction.SCAN,
    refusals=(400,),
)
async def get_master_json(call: Call, query: MasterQuery) -> MasterOut:
    """Export the texts of all workflows and layouts in one language, for translators and version control."""
    languages = await get_languages_of(call.db, call.environment_id)
    locale = languages.default_locale if query.locale is None else query.locale.normal
    size = await store.count_bytes(call.db, call.environment_id, locale)
    if size > MAX_MASTER:
        raise Malformed(
            f"The texts in {locale} have {size} bytes, and one file has up to {MAX_MASTER}; read them one by one "
            "(GET /v2/translations/{resourceType}/{resourceId}/{locale})"
        )
    texts = {kind: await _export(call.db, call.environment_id, kind, locale) for kind in ResourceType}
    return MasterOut(data=MasterTexts(workflows=texts[ResourceType.WORKFLOW], layouts=texts[ResourceType.LAYOUT]))


async def _check_master(_: DetachedCall, body: MasterIn) -> None:
    await asyncio.to_thread(_find_master_problems, _contents_of(body.master_json))


@operation(
    "POST",
    "/v2/translations/master-json",
    scope=Scope.WORKFLOWS_WRITE,
    body=MasterIn,
    body_limit=MAX_MASTER,
    precheck=_check_master,
)
async def import_master_json(call: Call, body: MasterIn) -> MasterImportOut:
    """Replace the texts of several workflows and layouts in one language; those that cannot be used are told."""
    return await _import(call, body.locale.normal, _contents_of(body.master_json))


async def _check_master_file(_: DetachedCall, form: MasterForm) -> None:
    await asyncio.to_thread(lambda: _find_master_problems(_read_master(form.file)[1]))


@operation(
    "POST",
    "/v2/translations/master-json/upload",
    scope=Scope.WORKFLOWS_WRITE,
    form=MasterForm,
    body_limit=MAX_MASTER,
    precheck=_check_master_file,
)
async def upload_master_json(call: Call, form: MasterForm) -> MasterUploadOut:
    """Import a JSON file with the texts of several workflows and layouts in the language that it is named by."""
    locale, contents = _read_master(form.file)
    return MasterUploadOut(data=await _import(call, locale, contents))


class _ReadFile(Struct, frozen=True, kw_only=True):
    name: str
    locale: str | None
    content: Content = {}
    problem: str | None = None

    @property
    def sentence(self) -> str:
        return f"Failed to process file '{self.name}': {self.problem}"


def _read_files(files: list[UploadedFile]) -> list[_ReadFile]:
    read: list[_ReadFile] = []
    for file in map(_read_file, files):
        if file.locale is not None and any(file.locale == other.locale for other in read):
            read.append(_ReadFile(name=file.name, locale=file.locale, problem="is the second file of its language"))
        else:
            read.append(file)
    return read


def _read_file(file: UploadedFile) -> _ReadFile:
    name, locale = shown_name(file), find_locale_of(file)
    if locale is None:
        return _ReadFile(name=name, locale=None, problem="is not named by a language, such as en_US.json")
    content = read_texts(file)
    if isinstance(content, str):
        return _ReadFile(name=name, locale=locale, problem=content)
    return _ReadFile(name=name, locale=locale, content=content, problem=_problem_of(content))


def _problem_of(content: Any) -> str | None:
    if not isinstance(content, Mapping):
        return "must be an object of texts"
    problems = find_problems(content)
    if not problems:
        return None
    key, message = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"'{key}' {message}{more}" if key else message


def _refuse(message: str, files: list[_ReadFile]) -> None:
    raise Malformed(message, ctx={"errors": [one.sentence for one in files if one.problem is not None]})


async def _check_configured(db: Connection, environment_id: EnvironmentId, files: list[_ReadFile]) -> None:
    languages = await get_languages_of(db, environment_id)
    configured = list(dict.fromkeys([languages.default_locale, *languages.target_locales]))
    missing = [one.locale for one in files if one.locale is not None and one.locale not in configured]
    if missing:
        message = (
            f"These languages are not configured: {', '.join(missing)}. Configured are {', '.join(configured)}; "
            "add languages to targetLocales by PATCH /v1/organizations/settings"
        )
        raise Malformed(message, ctx={"missingLocales": missing, "configuredLocales": configured})


async def _export(
    db: Connection, environment_id: EnvironmentId, kind: ResourceType, locale: str
) -> dict[str, dict[str, Any]]:
    translations = await store.list_translations_in(db, environment_id, kind, locale)
    resources = await store.list_resources(db, environment_id, kind)
    texts = {one.key: translations.get(one.owner.id) for one in resources}
    return {key: dict(one.content) for key, one in sorted(texts.items(), key=itemgetter(0)) if one is not None}


Contents = dict[ResourceType, dict[str, Any]]


def _contents_of(master: MasterContents) -> Contents:
    contents: Contents = {ResourceType.WORKFLOW: master.workflows, ResourceType.LAYOUT: master.layouts}
    count = sum(map(len, contents.values()))
    if count > MAX_RESOURCES:
        raise Invalid.field("masterJson", f"has {count} workflows and layouts, which is more than {MAX_RESOURCES}")
    return contents


def _find_master_problems(contents: Contents) -> dict[tuple[ResourceType, str], str]:
    return {
        (kind, reference): problem
        for kind, by_reference in contents.items()
        for reference, content in by_reference.items()
        if (problem := _problem_of(content)) is not None
    }


async def _import(call: Call, locale: str, contents: Contents) -> MasterImportOut:
    imported = await actions.import_texts(call, locale, contents, _find_master_problems(contents))
    return MasterImportOut.of(imported.done, imported.failed)


def _read_master(file: UploadedFile) -> tuple[str, Contents]:
    locale = find_locale_of(file)
    if locale is None:
        raise Malformed(f"The file '{shown_name(file)}' is not named by a language, such as en_US.json")
    content = read_texts(file)
    if isinstance(content, str):
        raise Malformed(f"The file '{shown_name(file)}' {content}")
    if not content:
        raise Malformed(f"The file '{shown_name(file)}' is empty: it needs `workflows` or `layouts` with their texts")
    parts = {name: content.get(name, {}) for name in ("workflows", "layouts")}
    if not all(isinstance(one, dict) for one in parts.values()):
        raise Malformed(f"The file '{shown_name(file)}' must have objects as `workflows` and `layouts`")
    return locale, _contents_of(MasterContents(**parts))
