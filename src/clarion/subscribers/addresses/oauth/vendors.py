"""The table of vendors, by the provider of the integration."""

from collections.abc import Mapping
from typing import Final

from clarion.errors import Invalid
from clarion.integrations.model import Integration
from clarion.integrations.variables import find_unresolved
from clarion.providers.definition.credentials import is_blank
from clarion.providers.definition.provider import find_credential_problems
from clarion.providers.registry import find_provider
from clarion.subscribers.addresses.oauth.slack import SLACK
from clarion.subscribers.addresses.oauth.teams import TEAMS
from clarion.subscribers.addresses.oauth.vendor import ChatVendor, OAuthClient
from clarion.subscribers.addresses.oauth.webex import WEBEX

VENDORS: Final[Mapping[str, ChatVendor]] = {"slack": SLACK, "msteams": TEAMS, "webex-messaging": WEBEX}
_NEEDED = ("clientId", "secretKey")


def get_vendor(account: Integration) -> tuple[ChatVendor, OAuthClient]:
    """Return the vendor of an integration, and the app there; raises Invalid."""
    vendor, provider = VENDORS.get(account.provider_id), find_provider(account.provider_id)
    if vendor is None or provider is None:
        raise Invalid.field(
            "integrationIdentifier",
            f"is of the provider '{account.provider_id}', which has no OAuth here; {', '.join(VENDORS)} have",
        )
    unresolved = find_unresolved(account)
    if unresolved is not None:
        raise Invalid.field("integrationIdentifier", unresolved, account.identifier)
    given = account.credentials
    problems = {name: "is missing" for name in _NEEDED if is_blank(given, name)}
    problems |= find_credential_problems(provider, given)
    if problems:
        told = "; ".join(f"{name} {problem}" for name, problem in problems.items())
        raise Invalid.field("integrationIdentifier", f"lacks credentials of the app at {vendor.name}: {told}")
    # Pasted values often have white space around them.
    client_id, secret = (str(given[name]).strip() for name in _NEEDED)
    return vendor, OAuthClient(id=client_id, secret=secret, credentials=given)
