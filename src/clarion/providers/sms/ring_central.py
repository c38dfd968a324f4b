"""RingCentral: SMS from the number of an extension, with access tokens obtained by a JWT credential."""

from clarion.clock import Millis
from clarion.providers.definition.credentials import SenderCredentials
from clarion.providers.definition.provider import SmsProvider, TokenExchange
from clarion.providers.definition.request import ProviderRequest, basic
from clarion.providers.definition.result import codes, json_id
from clarion.providers.sms.message import Sms
from clarion.secret import Secret

_PENALTY_SECONDS = 30


class RingCentralCredentials(SenderCredentials):
    client_id: str
    secret_key: Secret
    token: Secret
    """The JWT credential from the developer console."""
    secure: bool = False
    """Whether to use the sandbox; our API defines this name."""

    def url(self, path: str) -> str:
        return f"https://platform{'.devtest' if self.secure else ''}.ringcentral.com/restapi/{path}"


def request(account: RingCentralCredentials, sms: Sms) -> ProviderRequest:
    body = {"from": {"phoneNumber": sms.sender}, "to": [{"phoneNumber": sms.to}], "text": sms.body}
    return ProviderRequest.json(account.url("v1.0/account/~/extension/~/sms"), body)


def token_request(account: RingCentralCredentials, _: Millis) -> ProviderRequest:
    fields = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": account.token.reveal()}
    return ProviderRequest.form(account.url("oauth/token"), fields, auth=basic(account.client_id, account.secret_key))


PROVIDER = SmsProvider(
    id="ring-central",
    name="RingCentral",
    credentials=RingCentralCredentials,
    request=request,
    sent=json_id("id"),
    failures=(codes("errors.*.parameterName", recipient_invalid=("to.phoneNumber", "to")),),
    # Every call within the penalty period restarts it.
    read_retry_after=lambda answer: _PENALTY_SECONDS if answer.status == 429 else None,
    token=TokenExchange(request=token_request),
    documentation="https://developers.ringcentral.com/api-reference/SMS/createSMSMessage",
    note="`from` is a number of the extension that the JWT belongs to; `secure` means the sandbox. "
    "What becomes of a message is not reported.",
)
