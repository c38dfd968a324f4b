"""Contexts: what messages and inboxes belong to, such as a tenant or an app, as callers name them and as records."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.errors import Invalid, Problem
from clarion.ids import ContextId, EnvironmentId
from clarion.jsontext import encode_json, json_text

MAX_CONTEXTS = 5
MAX_DATA_BYTES = 64 * 1024

Contexts = dict[str, dict[str, Any]]
"""By type: `id`, and `data` if there is any."""

ContextKey = tuple[str, str]
"""The type and the id, which the caller chooses."""

_TYPE = re.compile(r"[A-Za-z0-9_-]{1,100}")
# An id stands in paths, where "." and ".." mean something else.
_ID = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9_.:@+=-]{1,100}")
TYPE_RULE = "must have 1 to 100 letters, digits and the characters _ -"
ID_RULE = "must have 1 to 100 letters, digits and the characters _ . : @ + = -, and be neither . nor .."
DATA_RULE = f"must have at most {MAX_DATA_BYTES} bytes of JSON"
_TYPE_RULE = f"is not a type of contexts, which {TYPE_RULE}"
_FORM_RULE = 'must be an id such as "acme", or an object with `id` and, if there is more to say, `data`'


class Context(Struct, frozen=True, kw_only=True):
    """A context as it is stored."""

    environment_id: EnvironmentId
    id: ContextId
    type: str
    key: str
    """Chosen by the caller; the API calls it `id`."""
    data: dict[str, Any]
    created_at: Millis
    updated_at: Millis


def is_type(text: str) -> bool:
    return _TYPE.fullmatch(text) is not None


def is_context_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def is_small(data: Mapping[str, Any]) -> bool:
    """Whether the data of a context is within the limit."""
    return len(encode_json(data)) <= MAX_DATA_BYTES


def read_contexts(given: Mapping[str, Any], path: str = "context") -> Contexts:
    """Return contexts, given as `{type: id}` or `{type: {id, data}}`, in one form; raises Invalid."""
    if len(given) > MAX_CONTEXTS:
        raise Invalid.field(path, f"must have at most {MAX_CONTEXTS} types")
    contexts: Contexts = {}
    problems: dict[str, list[Problem]] = {}
    for kind, value in given.items():
        where = f"{path}.{kind}"
        if not is_type(kind):
            problems[where] = [Problem(_TYPE_RULE)]
            continue
        context = {"id": value} if isinstance(value, str) else value
        problem = _find_problem(context)
        if problem is None:
            contexts[kind] = (
                {"id": context["id"], "data": context["data"]} if context.get("data") else {"id": context["id"]}
            )
        else:
            problems[where + problem[0]] = [problem[1]]
    if problems:
        raise Invalid(problems)
    return contexts


def keys_of(contexts: Contexts) -> tuple[str, ...]:
    """Return the contexts as `type:id`, sorted; a type has no colon, so that they cannot be confused."""
    return tuple(sorted(f"{kind}:{one['id']}" for kind, one in contexts.items()))


def stored_keys(keys: Iterable[str]) -> str:
    """Keys of contexts as they are stored, so that equal sets are equal texts."""
    return json_text(sorted(keys))


def stored_contexts(contexts: Contexts | None) -> str | None:
    """The keys of the contexts of a trigger as they are stored with what it makes; None without contexts."""
    return None if contexts is None else stored_keys(keys_of(contexts))


def names_of(contexts: Contexts) -> Contexts:
    """Return contexts without their data."""
    return {kind: {"id": one["id"]} for kind, one in contexts.items()}


def _find_problem(given: Any) -> tuple[str, Problem] | None:
    if not isinstance(given, dict) or "id" not in given:
        return "", Problem(_FORM_RULE)
    if not isinstance(given["id"], str) or not is_context_id(given["id"]):
        return ".id", Problem(ID_RULE, given["id"])
    data = given.get("data")
    if data is not None and not isinstance(data, dict):
        return ".data", Problem("must be an object")
    if data and not is_small(data):
        return ".data", Problem(DATA_RULE)
    return None
