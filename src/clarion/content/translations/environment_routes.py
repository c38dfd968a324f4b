"""The texts of an environment in all languages as one file."""

import asyncio
from functools import partial

from msgspec import UNSET

from clarion.audit.recording import author_of
from clarion.content.translations.environment_texts import MAX_EXPORT, apply_import, export_texts, prepare_import
from clarion.content.translations.wire import EnvironmentTexts, TextsImportOut
from clarion.http.operation import Call, DetachedCall, Transaction, operation
from clarion.vocabulary import Scope

SECTION = "Translations"
MAX_IMPORT = MAX_EXPORT * 3 // 2
"""Bytes of the texts with their names and languages."""


@operation(
    "GET",
    "/v2/translations/export",
    scope=Scope.WORKFLOWS_READ,
    transaction=Transaction.SCAN,
    refusals=(400,),
)
async def export_translations(call: Call) -> EnvironmentTexts:
    """Export the texts of all workflows and layouts in all languages, used or not, for the import here or elsewhere."""
    return await export_texts(call.db, call.environment_id)


async def _check(call: DetachedCall, body: EnvironmentTexts) -> None:
    # Texts are parsed, which takes long for many, so that neither the event loop nor the writer of SQLite waits for it.
    prepare = partial(prepare_import, environment_id=call.environment_id, texts=body)
    await asyncio.to_thread((await call.database.scan(prepare)).check)


@operation(
    "POST",
    "/v2/translations/import",
    scope=Scope.WORKFLOWS_WRITE,
    body=EnvironmentTexts,
    body_limit=MAX_IMPORT,
    precheck=_check,
)
async def import_translations(call: Call, body: EnvironmentTexts) -> TextsImportOut:
    """Replace the texts of all workflows and layouts that a file names, in all its languages; others stay.

    If anything in it cannot be used, nothing is changed, and the refusal names the places.
    """
    prepared = await prepare_import(call.db, call.environment_id, body)
    await apply_import(call.db, prepared, author_of(call), call.now)
    changed = sum(len(one.changed) for one in prepared.resources)
    return TextsImportOut(
        changed=changed,
        unchanged=sum(len(one.given) for one in prepared.resources) - changed,
        unused=prepared.unused or UNSET,
    )
