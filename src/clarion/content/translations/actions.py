"""Changes of translations: one language of one resource, or one language of many resources at once."""

from collections.abc import Mapping

from msgspec import Struct

from clarion.audit.model import Action
from clarion.audit.recording import record_request
from clarion.clock import Millis
from clarion.content.translations import store
from clarion.content.translations.groups import ResourceType, Translated, is_translation_enabled
from clarion.content.translations.model import MAX_TOTAL, AuditedTranslation, Content, Translation
from clarion.content.translations.store import NamedResource
from clarion.db.port import Connection
from clarion.environments.configuration import raise_configuration_version
from clarion.errors import Invalid, NotFound
from clarion.http.input.unknown import InputWarning
from clarion.http.operation import Call
from clarion.jsontext import json_text


async def put_translation(call: Call, resource: NamedResource, locale: str, content: Content) -> Translation:
    """Make or replace the translation to one language; the content has been checked."""
    current = await store.find_translation(call.db, resource.owner, locale)
    if current is None or json_text(current.content) != json_text(content):
        await write_translations(call.db, resource.owner, {locale: content}, call.now)
        await raise_configuration_version(call.db, call.environment_id)
        await record_request(
            call,
            Action.TRANSLATION_UPDATE,
            before=None if current is None else audited(resource, current.locale, current.content),
            after=audited(resource, locale, content),
        )
    await _warn_if_unused(call, resource)
    return await get_translation(call.db, resource, locale)


async def write_translations(
    db: Connection, owner: Translated, contents: Mapping[str, Content], now: Millis, *, field: str = "content"
) -> None:
    """Write translations by locale; raises Invalid, with nothing written, if all together would be too long.

    `field` names the place in the request.

    The caller raises the version of the configuration afterwards: other changes lock their rows in this order, too.
    """
    await _check_total(db, owner, contents, field)
    await store.lock_group(db, owner, now)
    # Again: others may have written before the lock.
    await _check_total(db, owner, contents, field)
    await store.put_translations(db, owner, contents, now)


async def delete_translation(call: Call, resource: NamedResource, locale: str) -> None:
    translation = await get_translation(call.db, resource, locale)
    await store.delete_translation(call.db, resource.owner, locale)
    await record_request(
        call, Action.TRANSLATION_DELETE, before=audited(resource, translation.locale, translation.content)
    )


async def get_translation(db: Connection, resource: NamedResource, locale: str) -> Translation:
    translation = await store.find_translation(db, resource.owner, locale)
    if translation is None:
        raise NotFound("Translation", f"{resource.owner.type}/{resource.key}/{locale}")
    return translation


class Imported(Struct, frozen=True):
    """What an import did: identifiers with their types, and of those that failed the reason."""

    done: list[str]
    failed: list[str]


async def import_texts(
    call: Call,
    locale: str,
    contents: Mapping[ResourceType, Mapping[str, Content]],
    problems: Mapping[tuple[ResourceType, str], str],
) -> Imported:
    """Replace the translations of several resources to one language; `problems` says which of them cannot be used."""
    done: list[str] = []
    failed: list[str] = []
    for kind, by_reference in contents.items():
        resources = await store.list_resources_by_reference(call.db, call.environment_id, kind, list(by_reference))
        for reference, content in by_reference.items():
            problem = problems.get((kind, reference))
            if problem is None and reference in resources:
                problem = await _import_one(call, resources[reference], locale, content)
            elif problem is None:
                problem = f"there is no {kind} '{reference}' in this environment"
            if problem is None:
                done.append(reference)
            else:
                failed.append(f"{reference}: {problem}")
    return Imported(done, failed)


def audited(resource: NamedResource, locale: str | None, content: Content | None) -> AuditedTranslation:
    path = f"{resource.owner.type}/{resource.key}" + (f"/{locale}" if locale else "")
    return AuditedTranslation(environment_id=resource.owner.environment_id, path=path, content=content)


async def _import_one(call: Call, resource: NamedResource, locale: str, content: Content) -> str | None:
    try:
        await put_translation(call, resource, locale, content)
    except Invalid as error:
        return error.message
    return None


async def _check_total(db: Connection, owner: Translated, contents: Mapping[str, Content], field: str) -> None:
    others = await store.count_characters(db, owner, besides=list(contents))
    total = others + sum(len(json_text(content)) for content in contents.values())
    if total > MAX_TOTAL:
        message = f"would make {total} characters of all languages together, which is more than {MAX_TOTAL}"
        raise Invalid.field(field, message)


async def _warn_if_unused(call: Call, resource: NamedResource) -> None:
    if not await is_translation_enabled(call.db, resource.owner):
        message = f"of {resource.owner.type} '{resource.key}' is kept and not used: its isTranslationEnabled is false"
        warning = InputWarning("content", message)
        if warning not in call.warnings:
            call.warnings.append(warning)
