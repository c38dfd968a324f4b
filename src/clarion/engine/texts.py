"""The translated texts of runs: found for the language of each person, and what is told of their use."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from clarion.content.layouts.model import PinnedLayout
from clarion.content.translations.catalogs import get_languages
from clarion.content.translations.groups import ResourceType, Translated
from clarion.db.port import Connection
from clarion.engine.records import Run
from clarion.engine.steps.decision import StepContext
from clarion.jobs.details import DetailCode, code_of
from clarion.templates import make_texts
from clarion.templates.texts import NAME, TextCatalog, Texts


async def add_texts(db: Connection, runs: Sequence[Run], version: int) -> None:
    """Give the runs whose steps or layouts refer to texts those of their people; nothing is read for others."""
    for run in runs:
        if run.version.refers_to_texts:
            run.texts = await _find_catalog(db, run, ResourceType.WORKFLOW, run.workflow.id, version)
        for layout in run.layouts.values():
            if layout.version.refers_to_texts:
                catalog = await _find_catalog(db, run, ResourceType.LAYOUT, layout.id, version)
                run.layout_texts = {**run.layout_texts, layout.id: catalog}


async def _find_catalog(db: Connection, run: Run, kind: ResourceType, resource_id: bytes, version: int) -> TextCatalog:
    languages = await get_languages(db, Translated(run.workflow.environment_id, kind, resource_id), version)
    return languages.find_catalog(run.locale, run.content.default_locale, accepted_at=run.trigger.created_at)


def make_layout_variables(context: StepContext, layout: PinnedLayout | None) -> dict[str, Any] | None:
    """Return what a layout with texts of its own sees; None if it sees what the step does."""
    if layout is None or layout.id not in context.run.layout_texts:
        return None
    texts = make_texts(context.run.layout_texts[layout.id])
    context.frame_texts.append(texts)
    return {**context.variables, NAME: texts}


def note_texts(context: StepContext) -> None:
    """Note in which languages the texts of a message are, and which keys were missing."""
    own = context.variables.get(NAME)
    used = [*([own] if isinstance(own, Texts) else []), *context.frame_texts]
    locales = dict.fromkeys(locale for texts in used for locale in texts.locales)
    missing = dict.fromkeys(key for texts in used for key in texts.missing)
    if locales:
        run = context.run
        language = {"locale": run.subscriber.locale, "default": run.content.default_locale, "used": list(locales)}
        _add_to_message(context, language)
    if missing:
        raw = {
            "locale": context.run.locale,
            "keys": list(missing),
            "wayOut": "add the texts in the default language, and set isTranslationEnabled of the workflow or layout",
        }
        context.note(DetailCode.TEXTS_MISSING, raw=raw)


def _add_to_message(context: StepContext, language: dict[str, Any]) -> None:
    details = context.job.details
    for place in range(len(details) - 1, -1, -1):
        if code_of(details[place]) == DetailCode.MESSAGE_CREATED:
            details[place] = replace(details[place], raw={**(details[place].raw or {}), "language": language})
            return
