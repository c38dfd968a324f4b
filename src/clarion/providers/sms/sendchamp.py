"""Sendchamp: SMS in Africa, with special routes for Nigerian numbers."""

from clarion.providers.definition.credentials import SenderCredentials
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.request import ProviderRequest, bearer
from clarion.providers.definition.result import ProviderAnswer, codes, either, json_id, own_id
from clarion.providers.sms.message import Sms
from clarion.secret import Secret

_NIGERIA = "+234"


class SendchampCredentials(SenderCredentials):
    api_key: Secret
    base_url: str = "https://api.sendchamp.com/api/v1"

    def url(self, resource: str) -> str:
        return f"{self.base_url.rstrip('/')}/{resource}"


def request(account: SendchampCredentials, sms: Sms) -> ProviderRequest:
    body = {
        "to": [sms.to],
        "message": sms.body,
        "sender_name": sms.sender,
        "route": "non_dnd" if sms.to.startswith(_NIGERIA) else "international",
    }
    return ProviderRequest.json(account.url("sms/send"), body)


def accepts(answer: ProviderAnswer) -> bool:
    """Accept both response formats that are in use."""
    return answer.value("status") == "success" or answer.value("status_code") in (200, 201)


PROVIDER = SmsProvider(
    id="sendchamp",
    name="Sendchamp",
    credentials=SendchampCredentials,
    auth=lambda account: bearer(account.api_key),
    request=request,
    # Some answers have no message id.
    sent=either(json_id("data.reference", "data.id"), own_id),
    accepts=accepts,
    failures=(codes("data.status", permanent=("failed",)),),
    check=lambda account: ProviderRequest.get(account.url("wallet-balance")),
    casing=snake,
    documentation="https://github.com/sendchamp/ai/blob/main/openapi/sms-verification.yaml",
    note="Numbers of Nigeria go by the route `non_dnd`, others by `international`; `route` in the overrides decides "
    "otherwise. For the sandbox set `baseUrl` to `https://sandbox-api.sendchamp.com/api/v1`.",
)
