"""The translated texts of runs: found for the language of each person, and what is told of their use."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from clarion.content.translations.catalogs import get_languages
from clarion.content.translations.groups import ResourceType, Translated
from clarion.db.port import Connection
from clarion.engine.records import Run
from clarion.engine.steps.decision import StepContext
from clarion.jobs.details import DetailCode, code_of
from clarion.templates.texts import NAME, Texts


async def add_texts(db: Connection, runs: Sequence[Run], version: int) -> None:
    """Give the runs whose steps refer to texts those of their people; nothing is read for others."""
    for run in runs:
        if run.version.refers_to_texts:
            owner = Translated(run.workflow.environment_id, ResourceType.WORKFLOW, run.workflow.id)
            languages = await get_languages(db, owner, version)
            run.texts = languages.find_catalog(run.locale, run.content.default_locale)


def note_texts(context: StepContext) -> None:
    """Note in which languages the texts of a message are, and which keys were missing."""
    texts = context.variables.get(NAME)
    if not isinstance(texts, Texts):
        return
    if texts.locales:
        _add_to_message(context, {"locale": context.run.locale, "used": list(texts.locales)})
    if texts.missing:
        raw = {
            "locale": context.run.locale,
            "keys": list(texts.missing),
            "wayOut": "add the texts in the default language, and set isTranslationEnabled of the workflow",
        }
        context.note(DetailCode.TEXTS_MISSING, raw=raw)


def _add_to_message(context: StepContext, language: dict[str, Any]) -> None:
    details = context.job.details
    for place in range(len(details) - 1, -1, -1):
        if code_of(details[place]) == DetailCode.MESSAGE_CREATED:
            details[place] = replace(details[place], raw={**(details[place].raw or {}), "language": language})
            return
