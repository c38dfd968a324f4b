"""The tables of docs/security.md: what each scope allows and which role has it, and what needs no scope."""

from collections.abc import Callable, Iterable, Sequence

from clarion.http.operation import Operation
from clarion.members.model import SCOPES
from clarion.vocabulary import GIVEN_BY_NAME, SCOPE_DESCRIPTIONS, Role, Scope

_RULES: tuple[tuple[str, Callable[[Operation], bool]], ...] = (
    ("anybody", lambda one: one.scope is None and not _has_session(one)),
    ("a person with the session of their inbox", lambda one: one.is_for_subscribers),
    ("a member who is signed in", lambda one: one.is_for_members),
    ("an owner, or an API key with `organization:reach`", lambda one: one.is_for_owners),
)


def render_access_tables(operations: Sequence[Operation]) -> str:
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
