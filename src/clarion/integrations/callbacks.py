"""The URL to which a provider sends its receipts: one for each integration, with a secret token."""

from collections.abc import Callable

from clarion.http.operation import DetachedCall
from clarion.ids import EnvironmentId, IntegrationId, id_text
from clarion.integrations.model import Integration
from clarion.vault import Vault

PATH = "/v2/inbound-webhooks/delivery-providers"


def make_receipts_url_finder(public_url: str | None, vault: Vault) -> Callable[[Integration], str | None]:
    """Return a function that finds the receipts URL of an integration; None without a public URL."""

    def find(integration: Integration) -> str | None:
        if public_url is None:
            return None
        return receipts_url(public_url, vault, integration.environment_id, integration.id)

    return find


def receipts_url(public_url: str, vault: Vault, environment_id: EnvironmentId, integration_id: IntegrationId) -> str:
    """Return the URL to register at the provider."""
    token = receipts_tokens(vault, environment_id, integration_id)[0]
    return f"{public_url.rstrip('/')}{PATH}/{id_text(environment_id)}/{id_text(integration_id)}?token={token}"


def receipts_tokens(vault: Vault, environment_id: EnvironmentId, integration_id: IntegrationId) -> list[str]:
    """Return every token that the integration's URL may have: of the current key first, then of older keys."""
    return vault.tokens(context=b"receipts" + environment_id + integration_id)


def find_origin(call: DetachedCall) -> str:
    """Return the scheme and host as the caller sees them: providers sign the whole URL."""
    if call.services.settings.public_url is not None:
        return call.services.settings.public_url.rstrip("/")
    headers = call.request.headers
    scheme = headers.get(b"x-forwarded-proto", b"http").partition(b",")[0].strip()
    host = headers.get(b"x-forwarded-host", headers.get(b"host", b"")).partition(b",")[0].strip()
    return f"{scheme.decode('latin-1')}://{host.decode('latin-1')}"
