"""Warnings of what refers to a variable that is renamed, hidden, shown or deleted.

They are found before the environments are locked: all workflows, layouts and texts are read for them.
"""

from contextlib import suppress
from functools import partial

from clarion.environments.variables.actions import merge_changes
from clarion.environments.variables.model import EnvironmentVariable, Use, UseKind
from clarion.environments.variables.usage import find_uses
from clarion.environments.variables.wire import VariablePatch
from clarion.errors import Invalid, NotFound
from clarion.http.input.unknown import InputWarning
from clarion.http.operation import DetachedCall


async def warn_of_deletion(call: DetachedCall, variable_key: str) -> None:
    with suppress(NotFound):
        _, uses = await _find_uses(call, variable_key)
        call.warnings.extend(InputWarning("variableKey", f"is used by {_name(use)}") for use in uses)


async def warn_of_change(call: DetachedCall, variable_key: str, body: VariablePatch) -> None:
    changes = body.changes()
    if changes.is_of_values:
        return
    # What is not found or contradicts itself is refused by the operation, unless it repeats an answer.
    with suppress(NotFound, Invalid):
        before, uses = await _find_uses(call, variable_key)
        after = merge_changes(before, changes)
        if before.is_secret and not after.is_secret:
            message = "shows the new values to all who may read variables, and in what is rendered with them"
            call.warnings.append(InputWarning("isSecret", message))
        found = (_find_effect(before, after, use) for use in uses)
        call.warnings.extend(dict.fromkeys(warning for warning in found if warning is not None))


async def _find_uses(call: DetachedCall, key: str) -> tuple[EnvironmentVariable, list[Use]]:
    find = partial(find_uses, caller=call.caller, key=key, vault=call.services.vault)
    return await call.database.scan(find)


def _find_effect(before: EnvironmentVariable, after: EnvironmentVariable, use: Use) -> InputWarning | None:
    """What a change takes from something that refers to the variable."""
    is_credential = use.kind is UseKind.INTEGRATION
    if after.key != before.key:
        return InputWarning("key", f"takes the variable from {_name(use)}, which refers to '{before.key}'")
    if after.for_credentials != before.for_credentials and after.for_credentials is not is_credential:
        return InputWarning("forCredentials", f"takes the variable from {_name(use)}, which refers to it")
    if after.is_secret and not before.is_secret and is_credential:
        return InputWarning("isSecret", f"takes the variable from {_name(use)}, where its value could be read")
    return None


def _name(use: Use) -> str:
    return f"the {use.kind} '{use.key}'"
