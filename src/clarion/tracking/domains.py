"""The proof that a host of an environment's own leads to this installation."""

from typing import Final

from clarion.clock import Millis
from clarion.errors import Invalid
from clarion.ids import new_id
from clarion.providers.definition.request import ProviderRequest
from clarion.providers.definition.result import SendFailure
from clarion.providers.sending.gateway import ProviderGateway
from clarion.tracking.links import make_base
from clarion.vault import Vault

PROOF_PATH: Final = "/t/proof/"
FIELD: Final = "tracking.domain"


def make_proof(vault: Vault, challenge: str) -> str:
    """Return what only an installation with the same encryption keys can answer."""
    return vault.tokens(context=b"tracking proof " + challenge.encode())[0]


async def check_domain(domain: str, public_url: str, gateway: ProviderGateway, vault: Vault, now: Millis) -> None:
    """Raise Invalid unless the host leads to this installation."""
    challenge = new_id(now).hex()
    url = f"{make_base(public_url, domain)}{PROOF_PATH}{challenge}"
    try:
        answer = await gateway.call(ProviderRequest(url=url, method="GET"))
        is_ours = answer.is_success and answer.text.strip() in vault.tokens(
            context=b"tracking proof " + challenge.encode()
        )
        problem = "" if is_ours else "another server answers there"
    except SendFailure as failure:
        problem = f"it cannot be reached: {failure}"
    if problem:
        way_out = "make it a name of the public address (a CNAME record, with a certificate), and try again"
        raise Invalid.field(FIELD, f"does not lead to this installation: {problem}; {way_out}", domain)
