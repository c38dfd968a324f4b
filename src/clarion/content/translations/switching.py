"""Switching the translations of a workflow or layout on and off, on request."""

from clarion.audit.model import Action
from clarion.audit.recording import record_request
from clarion.content.translations.groups import Translated, set_translation_enabled
from clarion.content.translations.model import AuditedTranslation
from clarion.http.operation import Call


async def switch_translations(call: Call, resource: Translated, key: str, *, enabled: bool) -> None:
    """Switch the translations of a resource on or off, and record it if that changed anything; they are kept."""
    if await set_translation_enabled(call.db, resource, enabled=enabled, now=call.now):
        before, after = (
            AuditedTranslation(environment_id=resource.environment_id, path=f"{resource.type}/{key}", is_enabled=state)
            for state in (not enabled, enabled)
        )
        await record_request(call, Action.TRANSLATION_SWITCH, before=before, after=after)
