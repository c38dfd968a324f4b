"""Generates the API description, the tables of README and docs/security.md, and the script of a new store."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from clarion.cli.configuration import settings_rows
from clarion.db.migrations.migrate import SQLITE_SCRIPT
from clarion.db.migrations.upgrade import render_sqlite_script
from clarion.http.description.openapi import describe_api
from clarion.http.operation import Operation
from clarion.members.model import SCOPES
from clarion.operations import OPERATIONS
from clarion.vocabulary import GIVEN_BY_NAME, SCOPE_DESCRIPTIONS, Role, Scope

_ROOT = Path(__file__).parents[3]
OPENAPI = _ROOT / "docs" / "reference" / "openapi.json"
README = _ROOT / "README.md"
SECURITY = _ROOT / "docs" / "security.md"
_RULES: tuple[tuple[str, Callable[[Operation], bool]], ...] = (
    ("anybody", lambda one: one.scope is None and not _has_session(one)),
    ("a person with the session of their inbox", lambda one: one.is_for_subscribers),
    ("a member who is signed in", lambda one: one.is_for_members),
    ("an owner, or an API key with `organization:reach`", lambda one: one.is_for_owners),
)


def settings_table() -> str:
    rows = "\n".join(f"| `{name}` | `{default}` | {about} |" for name, default, about in settings_rows())
    return f"| Variable | Default | What it is for |\n|---|---|---|\n{rows}"


def with_settings_table(readme: str) -> str:
    """The README with an updated table of settings."""
    return _with_part(readme, "settings", settings_table())


def with_access_tables(page: str) -> str:
    """The page on security with updated tables of who may do what."""
    return _with_part(page, "access", _render_access_tables(OPERATIONS))


def _with_part(document: str, name: str, part: str) -> str:
    """The document with another generated part between its two marks."""
    start, end = f"<!-- {name}: made by `make docs` -->", f"<!-- end of {name} -->"
    before, _, rest = document.partition(start)
    _, _, after = rest.partition(end)
    return f"{before}{start}\n{part}\n{end}{after}"


def write_documents() -> None:
    SQLITE_SCRIPT.write_text(render_sqlite_script())
    OPENAPI.parent.mkdir(parents=True, exist_ok=True)
    OPENAPI.write_bytes(describe_api(OPERATIONS))
    README.write_text(with_settings_table(README.read_text()))
    SECURITY.write_text(with_access_tables(SECURITY.read_text()))


def _render_access_tables(operations: Sequence[Operation]) -> str:
    return f"{_render_scopes()}\n\n{_render_rules(operations)}\n\n{_render_combined(operations)}"


def _render_scopes() -> str:
    header = ("Scope", "Allows", "In `all`", *(role.capitalize() for role in Role))
    return _render_table(header, (_scope_row(scope) for scope in Scope))


def _scope_row(scope: Scope) -> tuple[str, ...]:
    in_all = "" if scope is Scope.ALL else _mark(is_given=scope not in GIVEN_BY_NAME)
    roles = (_mark(is_given=scope in SCOPES[role]) for role in Role)
    return f"`{scope}`", SCOPE_DESCRIPTIONS[scope], in_all, *roles


def _render_rules(operations: Sequence[Operation]) -> str:
    rows = ((who, _names(one for one in operations if applies(one))) for who, applies in _RULES)
    return _render_table(("Who", "Operations"), rows)


def _render_combined(operations: Sequence[Operation]) -> str:
    """The operations that show what belongs to several scopes."""
    combined = (one for one in operations if one.also)
    rows = ((_names([one]), ", ".join(f"`{scope}`" for scope in (one.scope, *one.also) if scope)) for one in combined)
    return _render_table(("Operation", "Needs all of"), rows)


def _render_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, ("---",) * len(header), *rows))


def _names(operations: Iterable[Operation]) -> str:
    return ", ".join(f"`{one.method} {one.path}`" for one in operations)


def _has_session(operation: Operation) -> bool:
    return operation.is_for_subscribers or operation.is_for_members


def _mark(*, is_given: bool) -> str:
    return "yes" if is_given else "–"


if __name__ == "__main__":
    write_documents()
