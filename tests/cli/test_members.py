"""`clarion members`: the team on the command line."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from clarion.cli.commands import app
from tests.cli.support import run_here, set_up_store

GUIDE = Path(__file__).parents[2] / "docs" / "members.md"
PASSWORD = "correct horse battery"
REFUSED: list[tuple[list[str], str | None, str]] = [
    (["create", "ada"], None, "e-mail address"),
    (["create", "ada@example.com", "--password-stdin"], "short\n", "at least 12 characters"),
    (["create", "ada@example.com", "--role", "king"], None, "king"),
    (["role", "ada@example.com", "viewer"], None, "no member"),
    (["invite", "ada"], None, "e-mail address"),
]
Run = Callable[..., Result]


@pytest.fixture
def run(store: list[str]) -> Run:
    set_up_store(store)

    def invoke(*arguments: str, answer: str | None = None, **environ: str) -> Result:
        variables = {"COLUMNS": "200", **environ}
        return CliRunner().invoke(app, ["members", *arguments, *store], env=variables, input=answer)

    return invoke


def test_members_are_made_changed_and_removed(run: Run, store: list[str]) -> None:
    first = run("create", "Ada@example.com", "--name", "Ada", "--password-stdin", answer=f"{PASSWORD}\n")
    second = run("create", "bob@example.com", answer=f"{PASSWORD}\n{PASSWORD}\n")
    again = run("create", "ada@example.com", "--no-password")
    promoted = run("role", "bob@example.com", "author")
    kept_out = run("role", "bob@example.com", "none", "--environment", "Production")
    listed = run("list")
    last = run("role", "ada@example.com", "viewer")
    sessions = run("sessions", "bob@example.com")
    ended = run("sessions", "bob@example.com", "--end")
    removed = run("remove", "bob@example.com", "--yes")
    logged = run_here("audit", "list", "--environment", "Production", "--json", *store)

    assert first.output == "ada@example.com is a member with the role 'owner'.\n"
    assert second.output.endswith("bob@example.com is a member with the role 'viewer'.\n")
    assert "belongs to a member already" in str(again.exception)
    assert (promoted.exit_code, kept_out.exit_code, removed.exit_code) == (0, 0, 0)
    assert re.search(r"bob@example.com +│ bob@example.com +│ author +│ Production: none +│ yes", listed.output)
    assert sessions.exit_code == 0
    assert ended.output == "Ended 0 sessions of bob@example.com.\n"
    assert "only owner" in str(last.exception)
    assert [*re.findall(r'"(member\.\w+)"', logged.output)][::-1] == [
        *("member.create", "member.create", "member.update", "member.update"),
        *("member.revokeSessions", "member.delete"),
    ]
    assert PASSWORD not in logged.output
    assert "argon2" not in logged.output


def test_links_are_printed_with_the_token_in_the_fragment(run: Run) -> None:
    setup = run("link")
    run("create", "ada@example.com", "--no-password")
    reset = run("link", "ada@example.com", CLARION_PUBLIC_URL="https://clarion.example.com")
    invited = run("invite", "new@example.com", "--role", "admin")
    listed = run("list")
    needless = run("link")
    unknown = run("link", "nobody@example.com")

    assert re.search(r"^http://127\.0\.0\.1:3000/dashboard/setup#[\w-]{43}$", setup.output, re.MULTILINE)
    assert re.search(r"^https://clarion\.example\.com/dashboard/reset#[\w-]{43}$", reset.output, re.MULTILINE)
    assert re.search(r"^http://127\.0\.0\.1:3000/dashboard/invitation#[\w-]{43}$", invited.output, re.MULTILINE)
    assert re.search(r"new@example.com .*admin .*invited until", listed.output)
    assert "There is an owner already" in str(needless.exception)
    assert "There is no member 'nobody@example.com'" in str(unknown.exception)


def test_members_go_with_their_organization(run: Run, store: list[str]) -> None:
    run_here("organizations", "create", "Acme", *store)
    run("create", "ada@example.com", "--no-password", "--organization", "Acme")
    run("invite", "bob@example.com", "--organization", "Acme")
    run_here("organizations", "delete", "Acme", "--yes", *store)

    listed = run("list")
    again = run("create", "ada@example.com", "--no-password", "--organization", "Clarion")

    assert "example.com" not in listed.output
    assert again.exit_code == 0


def test_the_commands_of_the_guide_work(tmp_path: Path) -> None:
    store = ["--data-dir", str(tmp_path / "data")]
    set_up_store(store)
    lines = re.findall(r"^clarion (members .*)$", GUIDE.read_text(), re.MULTILINE)

    results = {line: run_here(*shlex.split(line), *store) for line in lines}

    assert len(lines) > 5
    assert {line: repr(one.exception) for line, one in results.items() if one.exit_code} == {}


def test_what_cannot_work_is_refused(run: Run) -> None:
    for arguments, answer, complaint in REFUSED:
        result = run(*arguments, answer=answer)
        assert result.exit_code != 0, arguments
        assert complaint in f"{result.exception} {result.output}", arguments
