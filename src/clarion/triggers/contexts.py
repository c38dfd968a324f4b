"""Contexts: what a message and an inbox belong to, such as a tenant or an app, as the caller names them."""

import re
from collections.abc import Mapping
from typing import Any

from clarion.errors import Invalid, Problem
from clarion.jsontext import encode_json

MAX_CONTEXTS = 5
MAX_DATA_BYTES = 64 * 1024

Contexts = dict[str, dict[str, Any]]
"""By type: `id`, and `data` if there is any."""

_TYPE = re.compile(r"[A-Za-z0-9_-]{1,100}")
_ID = re.compile(r"[A-Za-z0-9_.:@+=-]{1,100}")
_TYPE_RULE = "is not a type of contexts: those have 1 to 100 letters, digits, '_' and '-'"
_ID_RULE = "must have 1 to 100 letters, digits and the characters _ . : @ + = -"
_FORM_RULE = 'must be an id such as "acme", or an object with `id` and, if there is more to say, `data`'


def read_contexts(given: Mapping[str, Any], path: str = "context") -> Contexts:
    """Return contexts, given as `{type: id}` or `{type: {id, data}}`, in one form; raises Invalid."""
    if len(given) > MAX_CONTEXTS:
        raise Invalid.field(path, f"must have at most {MAX_CONTEXTS} types")
    contexts: Contexts = {}
    problems: dict[str, list[Problem]] = {}
    for kind, value in given.items():
        where = f"{path}.{kind}"
        if not _TYPE.fullmatch(kind):
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


def _find_problem(given: Any) -> tuple[str, Problem] | None:
    if not isinstance(given, dict) or "id" not in given:
        return "", Problem(_FORM_RULE)
    if not isinstance(given["id"], str) or not _ID.fullmatch(given["id"]):
        return ".id", Problem(_ID_RULE, given["id"])
    data = given.get("data")
    if data is not None and not isinstance(data, dict):
        return ".data", Problem("must be an object")
    if data and len(encode_json(data)) > MAX_DATA_BYTES:
        return ".data", Problem(f"must have at most {MAX_DATA_BYTES} bytes of JSON")
    return None
