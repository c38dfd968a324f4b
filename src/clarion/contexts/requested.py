"""The contexts that a request gives to something of a person: stored if they do not exist."""

from collections.abc import Mapping
from typing import Any

from clarion.contexts.actions import data_warning, find_existing, insert_missing, list_unused_data
from clarion.contexts.model import keys_of, read_contexts
from clarion.http.input.unknown import InputWarning
from clarion.http.operation import Call
from clarion.vocabulary import Scope

_NOT_STORED = f"is not stored: the API key lacks the scope '{Scope.CONTEXTS_WRITE}'"


async def store_contexts(call: Call, given: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return the sorted keys of the contexts of a body; those that do not exist are made, the others stay.

    A key that may not write contexts makes none: what the request makes belongs to them all the same.
    """
    if given is None:
        return ()
    contexts = read_contexts(given)
    if not call.caller.has_scope(Scope.CONTEXTS_WRITE):
        described = [kind for kind, one in contexts.items() if "data" in one]
        call.warnings.extend(InputWarning(f"context.{kind}.data", _NOT_STORED) for kind in described)
        return keys_of(contexts)
    existing = await find_existing(call.db, call.environment_id, [contexts])
    unused = list_unused_data(contexts, existing)
    call.warnings.extend(InputWarning(*data_warning(kind)) for kind in unused)
    await insert_missing(call.db, call.environment_id, [contexts], existing, call.now)
    return keys_of(contexts)
