"""Translations of workflows and layouts: write, read, delete, list."""

import asyncio

from clarion.audit.model import Action
from clarion.audit.recording import record_request
from clarion.content.translations import actions, store
from clarion.content.translations.groups import ResourceType, delete_group, list_groups
from clarion.content.translations.languages import get_languages_of
from clarion.content.translations.model import find_problems, flatten
from clarion.content.translations.store import NamedResource
from clarion.content.translations.wire import (
    GroupsQuery,
    TranslationGroupOut,
    TranslationGroupsOut,
    TranslationIn,
    TranslationLocale,
    TranslationOut,
)
from clarion.db.port import Connection
from clarion.errors import Invalid, Malformed, NotFound, Problem
from clarion.http.operation import Call, DetachedCall, Transaction, operation
from clarion.ids import EnvironmentId
from clarion.vocabulary import Scope

SECTION = "Translations"


async def _check(_: DetachedCall, body: TranslationIn) -> None:
    # Texts are parsed, which takes long for many, so that neither the event loop nor the writer of SQLite waits for it.
    problems = await asyncio.to_thread(find_problems, body.content)
    if problems:
        by_path: dict[str, list[Problem]] = {}
        for key, message in problems:
            by_path.setdefault(f"content.{key}" if key else "content", []).append(Problem(message))
        raise Invalid(by_path)


@operation("POST", "/v2/translations", scope=Scope.WORKFLOWS_WRITE, body=TranslationIn, precheck=_check)
async def create_translation(call: Call, body: TranslationIn) -> TranslationOut:
    """Make the translation of a workflow or layout to one language, or replace it whole.

    It is used once `isTranslationEnabled` of the workflow or layout is true.
    """
    resource = await store.get_resource(call.db, call.environment_id, body.resource_type, body.resource_id)
    translation = await actions.put_translation(call, resource, body.locale.normal, body.content)
    return TranslationOut.of(resource, translation)


@operation(
    "GET",
    "/v2/translations/{resourceType}/{resourceId}/{locale}",
    scope=Scope.WORKFLOWS_READ,
    refusals=(400, 422),
)
async def get_translation(call: Call, resource_type: str, resource_id: str, locale: str) -> TranslationOut:
    """Retrieve the translation of a workflow or layout to one language."""
    resource = await _get_resource(call, resource_type, resource_id)
    translation = await actions.get_translation(call.db, resource, _read_locale(locale))
    return TranslationOut.of(resource, translation)


@operation(
    "DELETE",
    "/v2/translations/{resourceType}/{resourceId}/{locale}",
    scope=Scope.WORKFLOWS_WRITE,
    status=204,
    refusals=(400,),
)
async def delete_translation(call: Call, resource_type: str, resource_id: str, locale: str) -> None:
    """Delete the translation of a workflow or layout to one language."""
    resource = await _get_resource(call, resource_type, resource_id)
    await actions.delete_translation(call, resource, _read_locale(locale))


@operation("GET", "/v2/translations/group/{resourceType}/{resourceId}", scope=Scope.WORKFLOWS_READ, refusals=(422,))
async def get_translation_group(call: Call, resource_type: str, resource_id: str) -> TranslationGroupOut:
    """Retrieve the languages of a workflow or layout whose translations are on, and which of them are outdated."""
    resource = await _get_resource(call, resource_type, resource_id)
    groups = await _describe(call.db, call.environment_id, resource.owner.type, [resource])
    if not groups:
        raise NotFound("Translation group", f"{resource.owner.type}/{resource.key}")
    return groups[0]


@operation("DELETE", "/v2/translations/{resourceType}/{resourceId}", scope=Scope.WORKFLOWS_WRITE, status=204)
async def delete_translation_group(call: Call, resource_type: str, resource_id: str) -> None:
    """Delete all translations of a workflow or layout for good; its `isTranslationEnabled` is false then."""
    resource = await _get_resource(call, resource_type, resource_id)
    content = {one.locale: one.content for one in await store.list_translations(call.db, resource.owner)}
    if not await delete_group(call.db, resource.owner):
        raise NotFound("Translation group", f"{resource.owner.type}/{resource.key}")
    await record_request(call, Action.TRANSLATION_DELETE, before=actions.audited(resource, None, content))


@operation("GET", "/v2/translations/list", scope=Scope.WORKFLOWS_READ, query=GroupsQuery, transaction=Transaction.SCAN)
async def list_translation_groups(call: Call, query: GroupsQuery) -> TranslationGroupsOut:
    """List the workflows and layouts whose translations are on, with their languages."""
    wanted = (query.query or "").casefold()
    matching: list[NamedResource] = []
    for kind in ResourceType:
        resources = await store.list_enabled_resources(call.db, call.environment_id, kind)
        matching += [one for one in resources if wanted in one.name.casefold() or wanted in one.key.casefold()]
    matching.sort(key=lambda one: (one.name.casefold(), one.owner.type, one.key))
    # Only of these the texts are read.
    page = matching[query.offset : query.offset + query.limit]
    described: dict[tuple[ResourceType, str], TranslationGroupOut] = {}
    for kind in ResourceType:
        shown = [one for one in page if one.owner.type is kind]
        groups = await _describe(call.db, call.environment_id, kind, shown)
        described |= {(kind, group.resource_id): group for group in groups}
    data = [described[one.owner.type, one.key] for one in page]
    return TranslationGroupsOut(data=data, total=len(matching), limit=query.limit, offset=query.offset)


async def _describe(
    db: Connection, environment_id: EnvironmentId, kind: ResourceType, resources: list[NamedResource]
) -> list[TranslationGroupOut]:
    """Those of the resources whose translations are on."""
    ids = [one.owner.id for one in resources]
    if not ids:
        return []
    groups = await list_groups(db, environment_id, kind, ids)
    translations = await store.list_translations_of(db, environment_id, kind, ids)
    languages = await get_languages_of(db, environment_id)
    return [
        TranslationGroupOut.of(
            resource,
            groups[resource.owner.id],
            languages,
            {one.locale: flatten(one.content) for one in translations.get(resource.owner.id, ())},
        )
        for resource in resources
        if resource.owner.id in groups and groups[resource.owner.id].is_enabled
    ]


async def _get_resource(call: Call, resource_type: str, resource_id: str) -> NamedResource:
    if resource_type not in list(ResourceType):
        raise Invalid.field("resourceType", f"must be one of {', '.join(ResourceType)}", resource_type)
    return await store.get_resource(call.db, call.environment_id, ResourceType(resource_type), resource_id)


def _read_locale(text: str) -> str:
    if not TranslationLocale.accepts(text):
        raise Malformed(f"The locale '{text[:40]}' {TranslationLocale.RULE}")
    return TranslationLocale(text).normal
