"""Settings of how members sign in: passwords, and an OpenID Connect provider."""

import re
from typing import Protocol
from urllib.parse import urlsplit

from clarion.errors import SettingsError
from clarion.secret import Secret
from clarion.settings.addresses import is_base_url, is_loopback_host
from clarion.vocabulary import Role

_DOMAIN = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+")


class SignInSettings(Protocol):
    """The settings that this module is about."""

    @property
    def passwords(self) -> bool: ...
    @property
    def oidc_issuer(self) -> str | None: ...
    @property
    def oidc_client_id(self) -> str | None: ...
    @property
    def oidc_client_secret(self) -> Secret | None: ...
    @property
    def oidc_redirect(self) -> str | None: ...
    @property
    def oidc_domains(self) -> tuple[tuple[str, Role], ...]: ...
    @property
    def oidc_trust_addresses(self) -> str | None: ...


def parse_domains(text: str) -> tuple[tuple[str, Role], ...]:
    """Read `example.com=viewer,ops.example.com=admin`."""
    roles: dict[str, Role] = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        domain, _, role = (one.strip().lower() for one in part.partition("="))
        if not _DOMAIN.fullmatch(domain) or role not in list(Role):
            raise SettingsError(
                f"CLARION_OIDC_DOMAINS must be such as example.com=viewer, with {', '.join(Role)}; not '{part}'."
            )
        roles[domain] = Role(role)
    return tuple(roles.items())


def check_sign_in(settings: SignInSettings) -> None:
    """Raise SettingsError if nobody could sign in that way."""
    issuer = settings.oidc_issuer
    if issuer is None:
        _check_without_provider(settings)
        return
    if settings.oidc_client_id is None:
        raise SettingsError("CLARION_OIDC_ISSUER needs CLARION_OIDC_CLIENT_ID, which the provider gives.")
    if not is_base_url(issuer) or not _is_safe(issuer):
        raise SettingsError("CLARION_OIDC_ISSUER must be an address such as https://accounts.example.com, with https.")
    trusted = settings.oidc_trust_addresses
    if trusted is not None and trusted.rstrip("/") != issuer.rstrip("/"):
        raise SettingsError(
            f"CLARION_OIDC_TRUST_ADDRESSES must be the address in CLARION_OIDC_ISSUER, {issuer}, not '{trusted}': "
            "it names the provider whose addresses are trusted."
        )
    redirect = settings.oidc_redirect
    if redirect is not None and not is_base_url(redirect):
        raise SettingsError(
            "CLARION_OIDC_REDIRECT must be an address such as https://api.example.com/v1/auth/oidc/callback."
        )


def _check_without_provider(settings: SignInSettings) -> None:
    for name in ("oidc_client_id", "oidc_client_secret", "oidc_redirect", "oidc_domains", "oidc_trust_addresses"):
        if getattr(settings, name):
            raise SettingsError(f"CLARION_{name.upper()} needs CLARION_OIDC_ISSUER, the address of the provider.")
    if not settings.passwords:
        raise SettingsError("CLARION_PASSWORDS is off, so CLARION_OIDC_ISSUER must be set: nobody could sign in.")


def _is_safe(address: str) -> bool:
    """Whether nobody between can read or change what is sent."""
    parts = urlsplit(address)
    return parts.scheme == "https" or is_loopback_host(parts.netloc)
