"""Generic SMS: any gateway that accepts JSON, as the credentials describe it."""

from typing import Annotated

from clarion.clock import Millis
from clarion.providers.definition.credentials import HEADER_NAME, URL, SenderCredentials
from clarion.providers.definition.provider import SmsProvider, TokenExchange
from clarion.providers.definition.request import Headers, ProviderRequest, key_header
from clarion.providers.definition.result import ProviderAnswer, SendContext, Sent, json_id
from clarion.providers.sms.message import Sms
from clarion.secret import Secret


class GenericSmsCredentials(SenderCredentials):
    base_url: Annotated[str, URL]
    api_key_request_header: str
    api_key: Secret
    id_path: str
    secret_key_request_header: str = ""
    secret_key: Secret = Secret("")
    date_path: str = ""
    authenticate_by_token: bool = False
    domain: Annotated[str, URL] = ""
    """The URL of the token endpoint."""
    authentication_token_key: Annotated[str, HEADER_NAME] = "token"  # noqa: S105 the name of a header
    """The name of the token in the answer's `data`, and of the header that sends it."""

    @property
    def keys(self) -> Headers:
        second = key_header(self.secret_key_request_header, self.secret_key) if self.secret_key_request_header else {}
        return {**key_header(self.api_key_request_header, self.api_key), **second}


def request(account: GenericSmsCredentials, sms: Sms) -> ProviderRequest:
    body = {"to": sms.to, "from": sms.sender, "sender": sms.sender, "content": sms.body, "id": sms.message_id}
    return ProviderRequest.json(account.base_url, body, auth={} if account.authenticate_by_token else account.keys)


def sent(answer: ProviderAnswer, context: SendContext) -> str | Sent | None:
    return json_id(context.account.id_path)(answer, context)


def token_request(account: GenericSmsCredentials, _: Millis) -> ProviderRequest:
    return ProviderRequest(url=account.domain, auth=account.keys)


PROVIDER = SmsProvider(
    id="generic-sms",
    name="Generic SMS",
    credentials=GenericSmsCredentials,
    request=request,
    sent=sent,
    token=TokenExchange(
        request=token_request,
        path=lambda account: f"data.{account.authentication_token_key}",
        lifetime="data.expiresIn",
        default_lifetime=300,
        auth=lambda account, token: key_header(account.authentication_token_key, token),
        is_needed=lambda account: account.authenticate_by_token,
    ),
    custom_data=lambda given: {"customData": given},
    documentation="as its settings say",
    idempotency="`id` in the body",
)
