"""Fields: the credentials of a provider as a form asks for them, and which of them are secret."""

from collections.abc import Mapping
from enum import StrEnum
from types import UnionType
from typing import Annotated, Any, get_args, get_origin

from msgspec import Struct
from msgspec.structs import FieldInfo, fields

from clarion.providers.definition.credentials import get_format_rules, is_blank
from clarion.providers.definition.field_texts import find_field_text
from clarion.providers.definition.formats import EMAIL_ADDRESS, JSON_OBJECT, PORT, URL
from clarion.providers.definition.provider import Provider
from clarion.secret import Secret
from clarion.vocabulary import Channel

MASK = "********"
"""Shown instead of a secret. Sent back, it stands for the secret that is stored."""

# Credentials that may be shown and may appear in error texts; all others are secret.
NOT_SECRET = frozenset(
    {
        *("host", "port", "from", "senderName", "user", "domain", "region", "title", "state", "imageUrl", "alertUid"),
        *("externalLink", "idPath", "datePath", "apiKeyRequestHeader", "secretKeyRequestHeader", "ipPoolName"),
        *("authenticationTokenKey", "channelId", "projectName", "contentType", "defaultRegion", "apiVersion"),
        *("tenantId", "businessAccountId"),
    }
)

_DESTINATIONS = (
    *("host", "port", "baseUrl", "apiURL", "webhookUrl", "domain", "region", "tlsOptions", "ignoreTls", "secure"),
)


class FieldKind(StrEnum):
    """How a value is typed in."""

    TEXT = "text"
    SECRET = "secret"  # noqa: S105 - a kind of field
    SWITCH = "switch"
    URL = "url"
    EMAIL = "email"
    PORT = "port"
    JSON = "json"


class CredentialField(Struct, frozen=True, kw_only=True, rename="camel"):
    """One credential of a provider."""

    name: str
    label: str
    kind: FieldKind
    required: bool
    secret: bool
    help: str


def list_fields(provider: Provider) -> list[CredentialField]:
    """Return the credentials of a provider, required ones first."""
    return sorted((_describe(provider, one) for one in fields(provider.credentials)), key=lambda one: not one.required)


def _describe(provider: Provider, one: FieldInfo) -> CredentialField:
    text = find_field_text(provider.id, one.encode_name, is_email=provider.channel is Channel.EMAIL)
    return CredentialField(
        name=one.encode_name,
        label=text.label,
        kind=_find_kind(provider, one.encode_name, one.type),
        required=one.required,
        secret=_is_secret_type(one.type),
        help=text.help,
    )


def list_unused(provider: Provider | None, credentials: Mapping[str, Any]) -> list[str]:
    """Return the names of credentials that the provider does not know."""
    if provider is None or provider.channel is Channel.IN_APP:
        return []
    known = {one.encode_name for one in fields(provider.credentials)}
    # A value under the name of the field wins over one in another spelling.
    known |= {old for old, new in provider.credentials.SPELLINGS.items() if is_blank(credentials, new)}
    return sorted(credentials.keys() - known)


def mask_secrets(provider: Provider | None, credentials: Mapping[str, Any]) -> dict[str, Any]:
    """Return the credentials with the mask instead of each secret."""
    known = {} if provider is None else {one.name: one.secret for one in list_fields(provider)}
    if provider is not None:
        known |= {old: known[new] for old, new in provider.credentials.SPELLINGS.items()}
    return {
        name: MASK if value and known.get(name, _may_be_secret(name, value)) else value
        for name, value in credentials.items()
    }


def unmask_secrets(given: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given credentials with the stored ones where they are masked; a mask for nothing stays.

    So do all masks where the credentials would go to another server: whoever may not read secrets must not be able to
    send them to a server of their own.
    """
    if any(given.get(name) != stored.get(name) for name in _DESTINATIONS):
        return dict(given)
    return {name: stored.get(name, value) if value == MASK else value for name, value in given.items()}


def list_masked(credentials: Mapping[str, Any]) -> list[str]:
    """Return the names of credentials that are nothing but the mask."""
    return [name for name, value in credentials.items() if value == MASK]


def _may_be_secret(name: str, value: Any) -> bool:
    """Whether a credential that the provider does not know is treated as a secret."""
    return isinstance(value, str) and name not in NOT_SECRET


def _is_secret_type(kind: Any) -> bool:
    return kind is Secret or Secret in get_args(kind)


_KINDS = {URL: FieldKind.URL, EMAIL_ADDRESS: FieldKind.EMAIL, PORT: FieldKind.PORT, JSON_OBJECT: FieldKind.JSON}


def _find_kind(provider: Provider, name: str, kind: Any) -> FieldKind:
    if _is_secret_type(kind):
        return FieldKind.SECRET
    plain = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    types = get_args(plain) if isinstance(plain, UnionType) else (plain,)
    if bool in types:
        return FieldKind.SWITCH
    if any(one is dict or getattr(one, "__origin__", None) is dict for one in types):
        return FieldKind.JSON
    rule = get_format_rules(provider.credentials).get(name)
    return FieldKind.TEXT if rule is None else _KINDS.get(rule, FieldKind.TEXT)
