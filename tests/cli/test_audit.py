"""Commands that change the configuration leave entries in the audit log, and `clarion audit` lists them."""

import base64
import json
from typing import Any

from clarion.errors import SettingsError
from tests.cli.support import run_here, set_up_store

OLD = f"old:{base64.b64encode(bytes(32)).decode()}"
NEW = f"new:{base64.b64encode(bytes(range(32))).decode()}"
DEVELOPMENT = ("--environment", "Development")


def test_commands_are_logged_and_listed(store: list[str]) -> None:
    set_up_store(store, CLARION_ENCRYPTION_KEYS=OLD)

    def listed(*options: str) -> list[dict[str, Any]]:
        result = run_here("audit", "list", *DEVELOPMENT, *store, "--json", *options)
        assert result.exit_code == 0, result.output
        return [json.loads(line) for line in result.stdout.splitlines()]

    made = run_here("keys", "create", *DEVELOPMENT, "--name", "CI", *store, CLARION_ENCRYPTION_KEYS=OLD)
    key_id = listed("--limit", "1")[0]["target"]["id"]
    done = [made, run_here("keys", "revoke", key_id, *store), run_here("sessions", "end", *DEVELOPMENT, *store)]
    # The second rotation finds nothing to do.
    done += [run_here("encryption", "rotate", *store, CLARION_ENCRYPTION_KEYS=f"{NEW},{OLD}") for _ in range(2)]
    entries = listed()

    assert [one.exit_code for one in done] == [0] * 5
    assert [(one["action"], one["actor"]["type"]) for one in entries] == [
        ("encryption.rotate", "commandLine"),
        ("environment.revokeSessions", "commandLine"),
        ("apiKey.revoke", "commandLine"),
        ("apiKey.create", "commandLine"),
        ("apiKey.create", "service"),
        ("environment.create", "service"),
    ]
    assert (entries[0]["before"], entries[0]["after"]) == ({"keys": ["old"]}, {"keys": ["new"]})
    assert "@" in entries[0]["actor"]["name"]
    assert listed("--limit", "2") == entries[:2]
    assert listed("--action", "apiKey.revoke", "--target-id", key_id) == [entries[2]]
    assert listed("--actor-type", "service", "--action", "environment.create") == [entries[5]]
    table = run_here("audit", "list", *DEVELOPMENT, *store, "--actor-type", "commandLine").stdout
    assert "CI" in table
    assert "apiKey.revoke" in table


def test_moments_that_are_not_valid_are_refused() -> None:
    wrong = run_here("audit", "list", *DEVELOPMENT, "--from", "yesterday")
    reversed_ = run_here("audit", "list", *DEVELOPMENT, "--from", "2026-01-02", "--to", "2026-01-01")

    assert isinstance(wrong.exception, SettingsError)
    assert "--from must be a date" in str(wrong.exception)
    assert isinstance(reversed_.exception, SettingsError)


def test_scopes_are_listed_with_what_they_allow() -> None:
    assert "Read the audit log" in run_here("keys", "scopes").stdout
