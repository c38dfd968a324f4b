"""Variables of environments in the credentials of integrations, which are stored with the references."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from clarion.content.environment import SECRET_MASK, EnvironmentContent, find_environment_content
from clarion.db.port import Connection
from clarion.errors import Forbidden, Problem
from clarion.http.caller import Caller
from clarion.integrations.model import Integration
from clarion.providers.definition.fields import SERVERS, list_secret_names
from clarion.providers.definition.references import is_misspelled, is_reference, list_references, replace_references
from clarion.providers.registry import find_provider
from clarion.vault import Vault
from clarion.vocabulary import Scope

_FORM = "may refer to variables as {{env.KEY}}, without filters and other templates"
_NO_VALUE = (
    "refers to the variable '{}', which has no value in this environment; set one in /v1/environment-variables/{}"
)
_OF_SERVER = (
    "decides which server gets the secrets of the account, and cannot refer to a variable; write the value itself"
)
_EXPOSED = (
    "refers to the variable '{}', which is secret and must be the whole value of a credential that is secret itself"
)
_READABLE = "refers to the variable '{}', which texts of messages can read; secrets need a variable with forCredentials"


def find_reference_problems(integration: Integration, content: EnvironmentContent) -> dict[str, Problem]:
    """What is wrong with the references of its credentials, by name; those of an inactive one may lack values."""
    problems: dict[str, Problem] = {}
    secret_names = list_secret_names(find_provider(integration.provider_id))
    for name, value in integration.credentials.items():
        keys = list_references(value)
        if is_misspelled(value):
            problems[name] = Problem(_FORM)
        if name in SERVERS and keys:
            problems[name] = Problem(_OF_SERVER)
            continue
        for key in keys:
            message = _find_misuse(key, value, content, is_secret=name in secret_names)
            if message is None and integration.active and key not in {**content.env, **content.credential_values}:
                message = _NO_VALUE.format(key, key)
            if message is not None:
                problems[name] = Problem(message)
    return problems


def check_reference_rights(caller: Caller, before: Integration | None, after: Integration) -> None:
    """Raise Forbidden if a caller who may not write variables lets an integration have them, or changes one that has.

    Otherwise it could send their values to a server of its own.
    """
    is_same = before is not None and before.credentials == after.credentials
    if has_references(after) and not is_same and not caller.has_scope(Scope.ENVIRONMENTS_WRITE):
        raise Forbidden(
            f"{caller.title} lacks {Scope.ENVIRONMENTS_WRITE}, which credentials need that refer to variables; "
            "write the values themselves",
            ctx={"missingScopes": [Scope.ENVIRONMENTS_WRITE]},
        )


def resolve_credentials(integration: Integration, content: EnvironmentContent) -> Integration:
    """The integration with the values of the variables; a reference stays that has none or may not have it."""
    if not has_references(integration):
        return integration
    secret_names = list_secret_names(find_provider(integration.provider_id))
    credentials = {
        name: _resolve(value, content, is_secret=name in secret_names)
        if list_references(value) and name not in SERVERS
        else value
        for name, value in integration.credentials.items()
    }
    return replace(integration, credentials=credentials)


def find_unresolved(integration: Integration) -> str | None:
    """Why an integration cannot be used with its provider: references stayed when it was resolved.

    Which ones is not said, because people in sessions of the inbox see this, too.
    """
    if not has_references(integration):
        return None
    return "has credentials that refer to variables without a value in this environment, or where they may not stand"


async def with_variables(db: Connection, integration: Integration, vault: Vault) -> Integration:
    """The integration as its provider is called; only one with references asks for variables."""
    if not has_references(integration):
        return integration
    content = await find_environment_content(db, integration.environment_id, vault=vault)
    return resolve_credentials(integration, content)


def has_references(integration: Integration) -> bool:
    return bool(list_variables_of(integration))


def list_variables_of(integration: Integration) -> set[str]:
    """The keys of the variables that its credentials refer to."""
    return {key for value in integration.credentials.values() for key in list_references(value)}


def _resolve(value: str, content: EnvironmentContent, *, is_secret: bool) -> str:
    known = content.credential_values if is_secret else content.env
    values: Mapping[str, str] = {
        key: known[key]
        for key in list_references(value)
        if key in known and _find_misuse(key, value, content, is_secret=is_secret) is None
    }
    return replace_references(value, values)


def _find_misuse(key: str, value: Any, content: EnvironmentContent, *, is_secret: bool) -> str | None:
    """Why a credential may not have this variable: secrets stay where nobody is shown them, whole, to be redacted."""
    if key in content.credential_values:
        return None if is_secret and is_reference(value) else _EXPOSED.format(key)
    if key in content.env and is_secret:
        return _READABLE.format(key)
    return _EXPOSED.format(key) if content.masked_env.get(key) == SECRET_MASK else None
