"""`clarion translations`: all languages as one file on the command line."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from clarion.app import open_application
from clarion.content.translations.actions import write_translations
from clarion.content.translations.groups import ResourceType, Translated
from clarion.db.port import Connection
from clarion.environments.store import list_environments
from clarion.errors import SettingsError
from tests.cli.support import load_settings, run_here, set_up_store
from tests.records import make_workflow

DEVELOPMENT = ("--environment", "Development")
GERMAN = {"hi": "Grüße 👋 {{payload.name}}"}


def make_texts(store: list[str]) -> None:
    async def run() -> None:
        async with open_application(load_settings(store)) as application:
            environments = await application.database.read(list_environments)
            environment = next(one for one in environments if one.name == "Development")
            workflow = await make_workflow(application.database, environment, key="welcome")
            owner = Translated(environment.id, ResourceType.WORKFLOW, workflow.id)

            async def put(db: Connection) -> None:
                await write_translations(db, owner, {"de_DE": GERMAN, "en_US": {"hi": "Hi"}}, environment.created_at)

            await application.database.transaction(put)

    asyncio.run(run())


def write(file: Path, locales: Any) -> str:
    file.write_text(json.dumps({"locales": locales}), encoding="utf-8")
    return str(file)


def test_texts_are_exported_and_imported(store: list[str], tmp_path: Path) -> None:
    set_up_store(store)
    make_texts(store)
    file = tmp_path / "texts.json"

    printed = run_here("translations", "export", *DEVELOPMENT, *store)
    written = run_here("translations", "export", *DEVELOPMENT, *store, "--output", str(file))
    same = run_here("translations", "import", str(file), *DEVELOPMENT, *store)
    french = write(tmp_path / "french.json", {"fr_FR": {"workflows": {"welcome": {"hi": "Salut"}}}})
    imported = run_here("translations", "import", french, *DEVELOPMENT, *store)
    again = run_here("translations", "export", *DEVELOPMENT, *store)
    logged = run_here("audit", "list", *DEVELOPMENT, *store, "--action", "translation.update", "--json")

    assert written.stdout == f"Wrote 2 languages to {file}.\n"
    assert file.read_text(encoding="utf-8") == printed.stdout
    assert json.loads(printed.stdout)["locales"]["de_DE"] == {"workflows": {"welcome": GERMAN}, "layouts": {}}
    off = "Not used, because isTranslationEnabled is false: workflow/welcome\n"
    assert same.stdout == "Changed 0 translations; 2 were the same.\n" + off
    assert imported.stdout == "Changed 1 translation; 0 were the same.\n" + off
    assert list(json.loads(again.stdout)["locales"]) == ["de_DE", "en_US", "fr_FR"]
    (entry,) = [json.loads(line) for line in logged.stdout.splitlines()]
    assert (entry["actor"]["type"], entry["target"]["id"]) == ("commandLine", "workflow/welcome")


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"{broken", "is not valid JSON"),
        (b"[" * 500, "nested deeper"),
        (b'{"locales": {"german": {}}}', "locales.german: must be a language and a region"),
        (b'{"locales": {"de_DE": {"workflow": {}}}}', "locales.de_DE.workflow: is not known here"),
        (b'{"locales": {"de_DE": {"workflows": {"nosuch": {}}}}}', "locales.de_DE.workflows.nosuch: is no workflow"),
        (
            b'{"locales": {"de_DE": {"workflows": {"welcome": {"a": {"b": "{{ x | y }}", "c": "ok"}}}}}}',
            "locales.de_DE.workflows.welcome.a.b: ",
        ),
    ],
)
def test_a_bad_file_changes_nothing_and_its_place_is_named(
    store: list[str], tmp_path: Path, content: bytes, place: str
) -> None:
    set_up_store(store)
    make_texts(store)
    file = tmp_path / "texts.json"
    file.write_bytes(content)

    before = run_here("translations", "export", *DEVELOPMENT, *store)
    refused = run_here("translations", "import", str(file), *DEVELOPMENT, *store)

    assert isinstance(refused.exception, SettingsError)
    assert place in str(refused.exception)
    assert "Nothing was imported" in str(refused.exception)
    assert run_here("translations", "export", *DEVELOPMENT, *store).stdout == before.stdout
