"""Where providers report what became of messages: an address for each integration, with a token that only they know."""

from collections.abc import Callable

from clarion.ids import EnvironmentId, IntegrationId, id_text
from clarion.integrations.model import Integration
from clarion.vault import Vault

PATH = "/v2/inbound-webhooks/delivery-providers"


def find_receipts_url(public_url: str | None, vault: Vault) -> Callable[[Integration], str | None]:
    """How the address of an integration is found; there is none while it is not known where we can be reached."""

    def find(integration: Integration) -> str | None:
        if public_url is None:
            return None
        return receipts_url(public_url, vault, integration.environment_id, integration.id)

    return find


def receipts_url(public_url: str, vault: Vault, environment_id: EnvironmentId, integration_id: IntegrationId) -> str:
    """The address that a provider is given."""
    token = receipts_tokens(vault, environment_id, integration_id)[0]
    return f"{public_url.rstrip('/')}{PATH}/{id_text(environment_id)}/{id_text(integration_id)}?token={token}"


def receipts_tokens(vault: Vault, environment_id: EnvironmentId, integration_id: IntegrationId) -> list[str]:
    """Every token that is right in the address of the integration: by the writing key first, then by older ones."""
    return vault.tokens(context=b"receipts" + environment_id + integration_id)
