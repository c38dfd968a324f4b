"""What Schemathesis must not do: take away its own key, environment or inbox. Loaded by its command, not by pytest."""

import itertools
import os
from typing import Any

import schemathesis
from schemathesis import Case, HookContext

PROTECTED = frozenset(filter(None, os.environ.get("CLARION_FUZZ_PROTECTED", "").split(",")))
"""Ids of things that it needs itself."""
HARMFUL_MEMBERS = {"limits", "expiresAt"}
KEY = "idempotency-key"
UNIQUE_LENGTH = 12

_numbers = itertools.count()


@schemathesis.hook
def filter_case(_: HookContext, case: Case[Any]) -> bool:
    return not is_harmful(case)


@schemathesis.hook
def before_call(_: HookContext, case: Case[Any], __: dict[str, object]) -> None:
    """The parameters of a link are filled in after the case is generated, so it is looked at again."""
    if is_harmful(case):
        case.path_parameters = dict.fromkeys(case.path_parameters, "01a1df28-0000-7000-8000-000000000000")
    # Generated keys are often the same, and the second request would only be told so.
    given = case.headers.get(KEY) if case.headers else None
    if given and len(given) >= UNIQUE_LENGTH:
        case.headers[KEY] = given[:-UNIQUE_LENGTH] + f"{next(_numbers):0{UNIQUE_LENGTH}}"


def is_harmful(case: Case[Any]) -> bool:
    if not PROTECTED.intersection(map(str, (case.path_parameters or {}).values())):
        return False
    if case.method.upper() == "PATCH":
        return isinstance(case.body, dict) and bool(HARMFUL_MEMBERS.intersection(case.body))
    return case.method.upper() in ("DELETE", "PUT")
