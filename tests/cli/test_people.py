"""`clarion subscribers`: export and erase on the command line."""

import asyncio
import json
from pathlib import Path
from typing import Any

from clarion.app import open_application
from clarion.db.port import Connection
from clarion.environments.store import list_environments
from clarion.errors import NotFound, SettingsError
from clarion.ids import SubscriberKey
from clarion.subscribers.store import upsert_subscriber
from tests.cli.support import load_settings, run_here, set_up_store

DEVELOPMENT = ("--environment", "Development")


def make_person(store: list[str]) -> None:
    async def make(db: Connection) -> None:
        environment = next(one for one in await list_environments(db) if one.name == "Development")
        fields: dict[str, Any] = {"email": "ada@example.com"}
        await upsert_subscriber(db, environment.id, SubscriberKey("ada"), fields, environment.created_at)

    async def run() -> None:
        async with open_application(load_settings(store)) as application:
            await application.database.transaction(make)

    asyncio.run(run())


def test_a_person_is_exported_and_erased(store: list[str], tmp_path: Path) -> None:
    set_up_store(store)
    make_person(store)
    file = tmp_path / "ada.json"

    printed = run_here("subscribers", "export", "ada", *DEVELOPMENT, *store)
    written = run_here("subscribers", "export", "ada", *DEVELOPMENT, *store, "--output", str(file))
    again = run_here("subscribers", "export", "ada", *DEVELOPMENT, *store, "--output", str(file))
    refused = run_here("subscribers", "erase", "ada", *DEVELOPMENT, *store)
    erased = run_here("subscribers", "erase", "ada", *DEVELOPMENT, *store, "--yes")
    gone = run_here("subscribers", "erase", "ada", *DEVELOPMENT, *store, "--yes")
    missing = run_here("subscribers", "export", "ada", *DEVELOPMENT, *store)
    logged = run_here("audit", "list", *DEVELOPMENT, *store, "--action", "subscriber.erase", "--json")

    exported = json.loads(printed.stdout)
    assert written.exit_code == 0
    assert exported["subscriberId"] == "ada"
    assert [one["kind"] for one in exported["data"]] == ["subscriber"]
    assert exported["data"][0]["data"]["email"] == "ada@example.com"
    assert json.loads(file.read_text())["data"] == exported["data"]
    assert file.stat().st_mode & 0o777 == 0o600
    assert isinstance(again.exception, SettingsError)
    assert refused.exit_code == 1
    assert erased.stdout == "Erased 'ada'.\n"
    assert isinstance(gone.exception, NotFound)
    assert isinstance(missing.exception, NotFound)
    (entry,) = [json.loads(line) for line in logged.stdout.splitlines()]
    assert (entry["actor"]["type"], entry["target"]["id"]) == ("commandLine", "ada")
