"""Creating, changing and deleting variables; the caller has locked the environments of the organization.

A value is changed by those who may change its environment. What holds for all environments, such as the key, is
changed by those who may change every environment that has a value.
"""

from collections.abc import Collection, Mapping

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.content.environment import SECRET_MASK
from clarion.db.port import Connection
from clarion.environments.access import Reach
from clarion.environments.variables import store
from clarion.environments.variables.model import MAX_VARIABLES, EnvironmentVariable, list_changed, list_lacking
from clarion.errors import AlreadyExists, Forbidden, Invalid, Malformed, NotFound, Problem
from clarion.ids import EnvironmentId, VariableId, id_text, new_id
from clarion.integrations.actions import note_changed_variables
from clarion.vault import Vault
from clarion.vocabulary import Scope


class VariableChanges(Struct, frozen=True, kw_only=True):
    """What is given of a variable; None: not given."""

    key: str | None = None
    is_secret: bool | None = None
    for_credentials: bool | None = None
    values: Mapping[EnvironmentId, str] = {}

    @property
    def is_of_values(self) -> bool:
        """Whether nothing is given but values."""
        return (self.key, self.is_secret, self.for_credentials) == (None, None, None)


async def create_variable(
    db: Connection, reach: Reach, draft: VariableChanges, *, vault: Vault, now: Millis
) -> EnvironmentVariable:
    """Create a variable; raises AlreadyExists, Forbidden, NotFound or Invalid."""
    organization_id, key = reach.caller.organization_id, draft.key or ""
    _check_values(reach, draft.values)
    known = await store.list_variables(db, organization_id, vault)
    _check_key(key, known)
    if len(known) >= MAX_VARIABLES:
        limits = {"currentCount": len(known), "limit": MAX_VARIABLES}
        raise Malformed(f"An organization has at most {MAX_VARIABLES} variables; delete one first", ctx=limits)
    made = EnvironmentVariable(
        organization_id=organization_id,
        id=VariableId(new_id(now)),
        key=key,
        is_secret=_is_secret(draft, for_credentials=bool(draft.for_credentials)),
        for_credentials=bool(draft.for_credentials),
        values=draft.values,
        created_at=now,
        updated_at=now,
    )
    await store.insert_variable(db, made, vault)
    await store.raise_versions(db, [one.id for one in reach.all])
    await _note_change(db, made.values, {key}, vault)
    return made


async def change_variable(
    db: Connection, reach: Reach, key: str, changes: VariableChanges, *, vault: Vault, now: Millis
) -> tuple[EnvironmentVariable, EnvironmentVariable]:
    """Change a variable, whose values are merged; returns it as it was and as it is."""
    known = await store.list_variables(db, reach.caller.organization_id, vault)
    before = next((variable for variable in known if variable.key == key), None)
    if before is None:
        raise NotFound("EnvironmentVariable", key)
    after = merge_changes(before, changes)
    _check_values(reach, changes.values)
    is_general = _shared(after) != _shared(before)
    if is_general:
        _require_all(reach, before)
    if after.key != before.key:
        _check_key(after.key, known)
    if (before.is_secret and not after.is_secret) or (before.for_credentials and not after.for_credentials):
        _require_new_values(reach, before, changes)
    if after == before:
        return before, before
    after = replace(after, updated_at=now)
    await store.update_variable(db, after, now)
    changed = list_changed(before.values, after.values)
    await store.put_values(db, after.id, {one: after.values[one] for one in changed}, vault)
    await store.raise_versions(db, [one.id for one in reach.all] if is_general else changed)
    await _note_change(db, after.values if is_general else changed, {before.key, after.key}, vault)
    return before, after


def merge_changes(before: EnvironmentVariable, changes: VariableChanges) -> EnvironmentVariable:
    """The variable as the changes make it; raises Invalid if they contradict each other."""
    for_credentials = before.for_credentials if changes.for_credentials is None else changes.for_credentials
    return replace(
        before,
        key=before.key if changes.key is None else changes.key,
        is_secret=_is_secret(changes, for_credentials=for_credentials, before=before.is_secret),
        for_credentials=for_credentials,
        values={**before.values, **changes.values},
    )


async def delete_variable(db: Connection, reach: Reach, key: str, *, vault: Vault) -> EnvironmentVariable:
    """Delete a variable with all its values; returns it as it was."""
    variable = await store.get_variable(db, reach.caller.organization_id, key, vault)
    _require_all(reach, variable)
    await store.delete_variable(db, variable)
    await store.raise_versions(db, [one.id for one in reach.all])
    return variable


async def _note_change(
    db: Connection, environment_ids: Collection[EnvironmentId], keys: Collection[str], vault: Vault
) -> None:
    for environment_id in environment_ids:
        await note_changed_variables(db, environment_id, keys, vault)


def _is_secret(given: VariableChanges, *, for_credentials: bool, before: bool = False) -> bool:
    if not for_credentials:
        return before if given.is_secret is None else given.is_secret
    if given.is_secret is False:
        raise Invalid.field("isSecret", "must be true for a variable for credentials; leave it out", value=False)
    return True


def _shared(variable: EnvironmentVariable) -> tuple[str, bool, bool]:
    """What holds in all environments."""
    return variable.key, variable.is_secret, variable.for_credentials


def _check_key(key: str, known: list[EnvironmentVariable]) -> None:
    if any(variable.key == key for variable in known):
        raise AlreadyExists(f"The variable '{key}' exists already; change it by PATCH")


def _check_values(reach: Reach, values: Mapping[EnvironmentId, str]) -> None:
    problems: dict[str, list[Problem]] = {}
    for number, (environment_id, value) in enumerate(values.items()):
        _require(reach, environment_id)
        if value == SECRET_MASK:
            message = "is the mask that stands for a secret value; send the value, or leave the environment out"
            problems[f"values.{number}.value"] = [Problem(message)]
    if problems:
        raise Invalid(problems)


def _require(reach: Reach, environment_id: EnvironmentId) -> None:
    """Refuse an environment in which the caller may not change values."""
    is_known = any(one.id == environment_id for one in reach.all)
    if is_known and reach.caller.member is None and not reach.caller.can_enter(environment_id):
        raise Forbidden(
            "This API key is scoped to a single environment and changes the values of that one alone; "
            "use a key with 'organization:reach'",
            ctx={"missingScopes": [Scope.ORGANIZATION_REACH]},
        )
    reach.get(environment_id, Scope.ENVIRONMENTS_WRITE)


def _require_all(reach: Reach, variable: EnvironmentVariable) -> None:
    """Refuse a change that reaches environments in which the caller may not change values."""
    writable = [one for one in variable.values if reach.caller.has_scope_in(one, Scope.ENVIRONMENTS_WRITE)]
    if len(writable) < len(variable.values):
        way_out = "use a key with 'organization:reach'" if reach.caller.member is None else "ask an owner"
        raise Forbidden(
            f"'{variable.key}' has a value in an environment that is beyond {reach.caller.title.lower()}, and this "
            f"would change it there too; {way_out}"
        )


def _require_new_values(reach: Reach, variable: EnvironmentVariable, changes: VariableChanges) -> None:
    lacking = set(list_lacking(changes.values.keys(), variable))
    if lacking:
        names = ", ".join(f"{one.name} ({id_text(one.id)})" for one in reach.all if one.id in lacking)
        message = f"must have new values of all environments before others can read them; missing: {names}"
        raise Invalid.field("values", message)
