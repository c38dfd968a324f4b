"""Variables of environments in the credentials of integrations, which are stored with the references."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from clarion.content.environment import SECRET_MASK, EnvironmentContent, find_environment_content
from clarion.db.port import Connection
from clarion.errors import Problem
from clarion.integrations.model import Integration
from clarion.providers.definition.fields import NOT_SECRET, SERVERS
from clarion.providers.definition.references import is_misspelled, is_reference, list_references, replace_references
from clarion.vault import Vault

_FORM = "may refer to variables as {{env.KEY}}, without filters and other templates"
_NO_VALUE = (
    "refers to the variable '{}', which has no value in this environment; set one in /v1/environment-variables/{}"
)
_OF_SERVER = (
    "decides which server gets the secrets of the account, and cannot refer to a variable; write the value itself"
)
_EXPOSED = "refers to the variable '{}', which is secret: it must be the whole value of a credential that is secret"


def find_reference_problems(integration: Integration, content: EnvironmentContent) -> dict[str, Problem]:
    """What is wrong with the references of its credentials, by name; those of an inactive one may lack values."""
    problems: dict[str, Problem] = {}
    for name, value in integration.credentials.items():
        if is_misspelled(value):
            problems[name] = Problem(_FORM)
        if name in SERVERS and list_references(value):
            problems[name] = Problem(_OF_SERVER)
            continue
        for key in list_references(value):
            if integration.active and key not in content.env:
                problems[name] = Problem(_NO_VALUE.format(key, key))
            elif not _may_stand(key, name, value, content):
                problems[name] = Problem(_EXPOSED.format(key))
    return problems


def resolve_credentials(integration: Integration, content: EnvironmentContent) -> Integration:
    """The integration with the values of the variables; a reference stays that has none or may not have it."""
    if not has_references(integration):
        return integration
    credentials = {
        name: _resolve(name, value, content) if list_references(value) else value
        for name, value in integration.credentials.items()
    }
    return replace(integration, credentials=credentials)


async def with_variables(db: Connection, integration: Integration, vault: Vault) -> Integration:
    """The integration as its provider is called; only one with references asks for variables."""
    if not has_references(integration):
        return integration
    content = await find_environment_content(db, integration.environment_id, vault=vault)
    return resolve_credentials(integration, content)


def has_references(integration: Integration) -> bool:
    return any(list_references(value) for value in integration.credentials.values())


def _resolve(name: str, value: str, content: EnvironmentContent) -> str:
    values: Mapping[str, str] = {
        key: content.env[key]
        for key in list_references(value)
        if key in content.env and _may_stand(key, name, value, content)
    }
    return replace_references(value, values)


def _may_stand(key: str, name: str, value: Any, content: EnvironmentContent) -> bool:
    """Whether secrets stay where they are, and what is shown hides the value: whole values are redacted."""
    if name in SERVERS:
        return False
    is_secret = content.masked_env.get(key) == SECRET_MASK
    return not is_secret or (name not in NOT_SECRET and is_reference(value))
