"""Every command that lists or shows something prints JSON for scripts, too."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import run_here, set_up_store
from tests.cli.walking import option_names, required_arguments, walk_commands

MEMBERS = {
    "audit list": {"_id", "action", "actor", "createdAt", "target"},
    "dead-letters list": None,
    "environments list": {"id", "identifier", "name", "organization", "type"},
    "keys list": {"environment", "expiresAt", "hint", "id", "lastUsedAt", "name", "scopes"},
    "keys scopes": {"description", "scope"},
    "members list": {"createdAt", "email", "environmentRoles", "hasPassword", "invitedUntil", "name", "role"},
    "members sessions": None,
    "organizations list": {"createdAt", "environments", "id", "name"},
    "retention run": {"count", "what"},
    "retention show": {"days", "deleted", "environment", "kind", "setBy"},
    "schedules list": None,
    "settings": {"about", "setBy", "value", "variable"},
}
"""The members of the objects of each listing, which scripts rely on; None where a fresh store has nothing to list."""
DOCUMENTS = {"doctor", "explain", "simulate", "status"}
"""Commands that print one document, whose shape has tests of its own."""


NO_LISTINGS = {"promote"}
"""Shows what it would change."""


def list_listings() -> dict[str, Any]:
    """The commands whose help says that they list, show or count something."""
    verbs = ("List ", "Show ", "Count ")
    found = {" ".join(words): one for words, one in walk_commands() if (one.help or "").strip().startswith(verbs)}
    return {name: one for name, one in found.items() if name not in NO_LISTINGS}


def test_every_listing_is_known_here_and_has_the_option() -> None:
    found = list_listings()

    assert MEMBERS.keys() | DOCUMENTS >= found.keys() >= MEMBERS.keys()
    assert [name for name, command in found.items() if "--json" not in option_names(command)] == []


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A store with a member."""
    options = ["--data-dir", str(tmp_path_factory.mktemp("data"))]
    set_up_store(options)
    run_here("members", "create", "ada@example.com", "--no-password", *options)
    return options


@pytest.mark.parametrize("name", MEMBERS)
def test_a_listing_as_json_is_one_object_a_line_with_members_that_stay(options: list[str], name: str) -> None:
    command = list_listings()[name]
    value = "ada@example.com" if name.startswith("members") else "Development"
    given = required_arguments(command, value) + (options if "--data-dir" in option_names(command) else [])

    result = run_here(*name.split(), *given, "--json")

    assert result.exit_code == 0, result.exception
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    members = MEMBERS[name]
    assert bool(lines) is (members is not None)
    assert [one for one in lines if members is None or not members <= one.keys()] == []


def test_moments_are_complete_and_names_are_not_taken_for_markup(tmp_path: Path) -> None:
    options = ["--data-dir", str(tmp_path)]
    set_up_store(options)
    run_here("keys", "create", "--environment", "Development", "--name", "[red]alert[/]", *options)

    table = run_here("keys", "list", *options).stdout
    organization = json.loads(run_here("organizations", "list", "--json", *options).stdout)

    assert "[red]alert[/]" in table
    assert organization["createdAt"].endswith("Z")
