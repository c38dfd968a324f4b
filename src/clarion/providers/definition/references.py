"""References of credentials to variables of the environment: `{{env.KEY}}`, the only template that they may have."""

import re
from collections.abc import Mapping
from typing import Any

_REFERENCE = re.compile(r"\{\{\s*env\.([A-Za-z]\w*)\s*\}\}", re.ASCII)
_MISSPELLED = re.compile(r"\{[{%][^{}%]*\benv\b")


def list_references(value: Any) -> list[str]:
    """The keys of the variables that a credential refers to."""
    return _REFERENCE.findall(value) if isinstance(value, str) and "{{" in value else []


def is_reference(value: Any) -> bool:
    """Whether a credential is nothing but a reference, and so no secret itself."""
    return isinstance(value, str) and _REFERENCE.fullmatch(value.strip()) is not None


def is_misspelled(value: Any) -> bool:
    """Whether a credential refers to variables in another form, such as with a filter."""
    return isinstance(value, str) and _MISSPELLED.search(_REFERENCE.sub("", value)) is not None


def replace_references(text: str, values: Mapping[str, str]) -> str:
    """The text with the values; references to what has none stay, and values are no templates."""
    return _REFERENCE.sub(lambda match: values.get(match[1], match[0]), text)
