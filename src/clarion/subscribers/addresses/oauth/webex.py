"""Webex's OAuth: the addresses, the exchange of a code, who the person is, and new tokens for old ones."""

from collections.abc import Sequence
from urllib.parse import urlencode

from clarion.clock import Millis
from clarion.providers.chat.webex_messaging import WebexCredentials
from clarion.providers.definition.credentials import read_credentials
from clarion.providers.definition.receipts import RequestFlow
from clarion.providers.definition.request import ProviderRequest, bearer
from clarion.providers.definition.result import ProviderAnswer, read_error_text
from clarion.secret import Secret
from clarion.subscribers.addresses.model import EndpointType
from clarion.subscribers.addresses.oauth.model import Attempt, OAuthProblem, OAuthStep
from clarion.subscribers.addresses.oauth.vendor import (
    ChatVendor,
    Grant,
    OAuthClient,
    Redirected,
    as_text,
    given,
    read_auth,
)

_SCOPE = ("spark:messages_write", "spark:rooms_read", "spark:people_read", "spark:memberships_read", "spark:kms")
_USER_SCOPE = ("spark:people_read",)


def _authorize_url(client: OAuthClient, attempt: Attempt, state: str, scope: Sequence[str] | None) -> str:
    default = _SCOPE if attempt.step is OAuthStep.CONNECT else _USER_SCOPE
    query = {
        "response_type": "code",
        "client_id": client.id,
        "redirect_uri": attempt.redirect_uri,
        "scope": " ".join(scope or default),
        "state": state,
    }
    return f"{_url(client, 'authorize')}?{urlencode(query)}"


def _read_answer(client: OAuthClient, attempt: Attempt, redirected: Redirected, now: Millis) -> RequestFlow[Grant]:
    fields = {"code": redirected.require_code(), "redirect_uri": attempt.redirect_uri}
    answer = yield _token_request(client, "authorization_code", fields)
    auth = read_auth(answer, now)
    if not answer.is_success or not auth:
        raise OAuthProblem(f"Webex refused: {_explain(answer)}")
    answer = yield ProviderRequest.get(_url(client, "people/me"), auth=bearer(Secret(auth["accessToken"])))
    person_id, workspace_id = as_text(answer.value("id")), as_text(answer.value("orgId"))
    if not answer.is_success or person_id is None or workspace_id is None:
        raise OAuthProblem("Webex did not say who you are.")
    is_connecting = attempt.step is OAuthStep.CONNECT
    name = as_text(answer.value("displayName")) if is_connecting else None
    # The token of someone who is only linked is used for nothing else.
    return Grant(
        workspace=given({"id": workspace_id, "name": name}),
        auth=auth if is_connecting else {},
        person={"personId": person_id},
    )


def _renewal_request(client: OAuthClient, refresh_token: str) -> ProviderRequest:
    return _token_request(client, "refresh_token", {"refresh_token": refresh_token})


def _token_request(client: OAuthClient, grant_type: str, fields: dict[str, str]) -> ProviderRequest:
    own = {"grant_type": grant_type, "client_id": client.id, "client_secret": client.secret}
    return ProviderRequest.form(_url(client, "access_token"), {**own, **fields})


def _url(client: OAuthClient, path: str) -> str:
    return read_credentials(WebexCredentials, client.credentials).url(path)


def _explain(answer: ProviderAnswer) -> str:
    # A success may have a token under another name.
    return f"status {answer.status}" if answer.is_success else read_error_text(answer)[:100]


WEBEX = ChatVendor(
    name="Webex",
    person_type=EndpointType.WEBEX_PERSON,
    authorize_url=_authorize_url,
    read_answer=_read_answer,
    renewal_request=_renewal_request,
)
