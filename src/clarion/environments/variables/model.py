"""Variables as records, and the rules for their keys and values."""

import re
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum

from msgspec import Struct

from clarion.clock import Millis
from clarion.ids import EnvironmentId, OrganizationId, VariableId

MAX_VARIABLES = 50
"""Of an organization: all values of an environment are decrypted together."""
MAX_KEY = 256
MAX_VALUE = 4_096
"""Characters of a value, which is enough for the key file of a service account."""
SYSTEM_KEYS = frozenset({"name", "type"})
"""What `env` has in any case: the name of the environment, and `dev` or `prod`."""
KEY_RULE = (
    f"must begin with a letter and have letters, digits and underscores, at most {MAX_KEY}, and be none of "
    f"{', '.join(sorted(SYSTEM_KEYS))}, which every environment has"
)

_KEY = re.compile(rf"[A-Za-z][A-Za-z0-9_]{{0,{MAX_KEY - 1}}}", re.ASCII)


class EnvironmentVariable(Struct, frozen=True, kw_only=True):
    organization_id: OrganizationId
    id: VariableId
    key: str
    is_secret: bool
    for_credentials: bool = False
    """Whether credentials of integrations see it, and no text does; such a variable is secret."""
    values: Mapping[EnvironmentId, str]
    """Of the environments that have one, decrypted."""
    created_at: Millis
    updated_at: Millis


class UseKind(StrEnum):
    WORKFLOW = "workflow"
    LAYOUT = "layout"
    TRANSLATION = "translation"
    INTEGRATION = "integration"


class Use(Struct, frozen=True):
    """Something that refers to a variable."""

    kind: UseKind
    key: str
    """Its identifier; of a translation that of its workflow or layout."""
    name: str
    """What people call it; of a translation the locale."""


def is_key(text: str) -> bool:
    return _KEY.fullmatch(text) is not None and text not in SYSTEM_KEYS


def list_changed(before: Mapping[EnvironmentId, str], after: Mapping[EnvironmentId, str]) -> list[EnvironmentId]:
    """The environments whose values differ, in the order of their ids."""
    return sorted(one for one in before.keys() | after.keys() if before.get(one) != after.get(one))


def list_lacking(given: Collection[EnvironmentId], variable: EnvironmentVariable) -> list[EnvironmentId]:
    """The environments that have a value of the variable and are not given."""
    return sorted(variable.values.keys() - set(given))


def is_used_in(texts: Iterable[str], key: str) -> bool:
    """Whether texts refer to `env.<key>`."""
    pattern = re.compile(rf"(?<![\w.])env(?:\.{key}(?!\w)|\[\s*\\?[\"']{key}\\?[\"']\s*\])")
    return any(pattern.search(text) for text in texts)
