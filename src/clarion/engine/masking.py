"""Values of secret variables are masked in what people are shown of decisions; decisions are made by the real ones."""

import re
from typing import Any, Final

from msgspec.structs import replace

from clarion.conditions import ConditionResult, shorten
from clarion.content.environment import SECRET_MASK, EnvironmentContent

_MENTION: Final = re.compile(r"(?<![\w.])env\b(?:\.(\w+))?")
_COMPARED: Final = frozenset({"actual", "expected"})


def mask_result(result: ConditionResult, source: Any, content: EnvironmentContent) -> ConditionResult:
    """Return a result without the compared values if the condition, before templates are rendered, names a secret."""
    if not names_secret(source, content):
        return result
    return replace(result, explanation=_mask(result.explanation))


def show_key_value(key: str, value: Any, content: EnvironmentContent) -> Any:
    """Return the value of a key as details show it."""
    return SECRET_MASK if names_secret(key, content) else shorten(value)


def names_secret(source: Any, content: EnvironmentContent) -> bool:
    """Return whether a condition or a key can have the value of a secret; in doubt, it can."""
    # Most environments have no secrets, and in simulations they are masked already.
    if content.env == content.masked_env:
        return False
    secrets = {name for name, value in content.env.items() if content.masked_env.get(name) != value}
    return _mentions(source, secrets)


def _mentions(source: Any, secrets: set[str]) -> bool:
    if isinstance(source, str):
        # `env` alone, or with a computed member, can be any of them.
        return any(match[1] is None or match[1] in secrets for match in _MENTION.finditer(source))
    if isinstance(source, list):
        return any(_mentions(one, secrets) for one in source)
    if isinstance(source, dict):
        return _has_open_path(source) or any(_mentions(one, secrets) for one in source.values())
    return False


def _has_open_path(rule: dict[str, Any]) -> bool:
    """Return whether a rule reads a variable whose path is computed, or all variables together."""
    if len(rule) != 1 or "var" not in rule:
        return False
    given = rule["var"]
    path = given[0] if isinstance(given, list) and given else given
    return not isinstance(path, str | int) or path == ""


def _mask(explanation: Any) -> Any:
    if isinstance(explanation, list):
        return [_mask(one) for one in explanation]
    if isinstance(explanation, dict):
        return {name: SECRET_MASK if name in _COMPARED else _mask(one) for name, one in explanation.items()}
    return explanation
