"""Checks whether the hosts of configured providers can be reached; connects, and sends nothing."""

import asyncio
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from clarion.db.port import Connection, Database
from clarion.environments.model import Environment
from clarion.errors import SettingsError
from clarion.integrations import store as integrations
from clarion.integrations.variables import with_variables
from clarion.members.links.mailing import EVERYWHERE, SMTP_PROVIDER, credentials_of
from clarion.monitoring.doctor.model import Finding, fine, problem
from clarion.providers.definition.credentials import read_credentials
from clarion.providers.definition.provider import BuiltinProvider, HttpProvider, SmtpProvider
from clarion.providers.definition.result import SendFailure
from clarion.providers.registry import find_provider
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.egress import EgressGuard
from clarion.settings.addresses import parse_mail_url
from clarion.settings.model import Settings
from clarion.vault import Vault

_SECONDS = 5.0
_MAX_HOSTS = 100
_HTTPS_PORT, _HTTP_PORT = 443, 80


class NetworkTarget(Struct, frozen=True):
    host: str
    port: int
    is_tls: bool


async def check_network(
    database: Database, environments: list[Environment], vault: Vault, guard: EgressGuard
) -> list[Finding]:
    """Connect to each host once, however many integrations use it."""

    async def list_targets(db: Connection) -> dict[NetworkTarget, str]:
        targets: dict[NetworkTarget, str] = {}
        for environment in environments:
            for stored in await integrations.list_integrations(db, environment.id, vault):
                integration = await with_variables(db, stored, vault)
                target = find_target(integration.provider_id, integration.credentials) if integration.active else None
                if target is not None:
                    targets.setdefault(target, integration.provider_id)
        return targets

    try:
        targets = await database.read(list_targets)
    except SettingsError:
        return []  # the keys do not fit, which another check reports
    chosen = list(targets.items())[:_MAX_HOSTS]
    failed = [one for one in await asyncio.gather(*(_connect(*one, guard) for one in chosen)) if one is not None]
    return failed or [fine("network", f"All {len(chosen)} hosts of active integrations can be reached.")]


async def check_mail(settings: Settings) -> list[Finding]:
    """Log in to the SMTP server for mails to members, if there is one."""
    if settings.mail_url is None:
        return []
    server = parse_mail_url(settings.mail_url)
    try:
        async with ProviderGateway(EVERYWHERE) as gateway:
            await gateway.check(SMTP_PROVIDER, credentials_of(server))
    except SendFailure as failure:
        return [problem("mail", f"{server.host} cannot be used: {failure}.", "Correct CLARION_MAIL_URL.")]
    return [fine("mail", f"{server.host} takes mails to members.")]


def find_target(provider_id: str, credentials: Mapping[str, Any]) -> NetworkTarget | None:
    """The host that an integration sends to, where that is known without a message."""
    provider = find_provider(provider_id)
    if provider is None or isinstance(provider, BuiltinProvider):
        return None
    try:
        account = read_credentials(provider.credentials, credentials)
        if isinstance(provider, SmtpProvider):
            server = provider.account(account)
            return NetworkTarget(server.host, server.port, server.implicit_tls)
        request = provider.check(account) if isinstance(provider, HttpProvider) and provider.check else None
    except SendFailure:
        return None
    if request is not None:
        return _target_of(request.url)
    urls = [
        value for value in credentials.values() if isinstance(value, str) and value.startswith(("https://", "http://"))
    ]
    return _target_of(urls[0]) if urls else None


def _target_of(url: str) -> NetworkTarget | None:
    try:
        parts = urlsplit(url)
        is_tls = parts.scheme == "https"
        return (
            NetworkTarget(parts.hostname, parts.port or (_HTTPS_PORT if is_tls else _HTTP_PORT), is_tls)
            if parts.hostname
            else None
        )
    except ValueError:
        return None


async def _connect(target: NetworkTarget, provider_id: str, guard: EgressGuard) -> Finding | None:
    name = f"{target.host}:{target.port}, which {provider_id} uses,"
    try:
        async with asyncio.timeout(_SECONDS):
            addresses = await guard.resolve(target.host, target.port)
            _, writer = await asyncio.open_connection(
                str(addresses[0]),
                target.port,
                ssl=ssl.create_default_context() if target.is_tls else None,
                server_hostname=target.host if target.is_tls else None,
            )
            writer.close()
    except SendFailure as error:
        return problem(
            "network", f"{name} cannot be reached: {error}.", "Correct the host, the DNS, or CLARION_EGRESS_ALLOW."
        )
    except ssl.SSLError as error:
        return problem(
            "network", f"{name} has no valid certificate: {error.reason}.", "Look for a proxy that intercepts TLS."
        )
    except (OSError, TimeoutError) as error:
        return problem(
            "network",
            f"{name} does not answer: {str(error) or 'timeout'}.",
            "Open the way out in the firewall, or use a NAT.",
        )
    return None
