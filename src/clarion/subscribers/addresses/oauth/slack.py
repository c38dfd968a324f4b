"""Slack's OAuth: the addresses, the exchange of a code, and what a grant has."""

from collections.abc import Sequence
from urllib.parse import urlencode

from clarion.clock import Millis
from clarion.providers.definition.receipts import RequestFlow
from clarion.providers.definition.request import ProviderRequest
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

_AUTHORIZE = "https://slack.com/oauth/v2/authorize"
_ACCESS = "https://slack.com/api/oauth.v2.access"
_SCOPE = ("chat:write", "chat:write.public", "channels:read", "groups:read", "users:read", "users:read.email")
_USER_SCOPE = ("identity.basic",)


def _authorize_url(client: OAuthClient, attempt: Attempt, state: str, scope: Sequence[str] | None) -> str:
    name, default = ("scope", _SCOPE) if attempt.step is OAuthStep.CONNECT else ("user_scope", _USER_SCOPE)
    query = {"state": state, "client_id": client.id, "redirect_uri": attempt.redirect_uri}
    return f"{_AUTHORIZE}?{urlencode({**query, name: ','.join(scope or default)})}"


def _read_answer(client: OAuthClient, attempt: Attempt, redirected: Redirected, now: Millis) -> RequestFlow[Grant]:
    fields = {"code": redirected.require_code(), "redirect_uri": attempt.redirect_uri}
    answer = yield _access_request(client, fields)
    if answer.value("ok") is not True:
        # One of a list of words, such as invalid_code.
        raise OAuthProblem(f"Slack refused: {as_text(answer.value('error')) or f'status {answer.status}'}")
    workspace_id = as_text(answer.value("team.id")) or as_text(answer.value("enterprise.id"))
    if workspace_id is None:
        raise OAuthProblem("Slack did not say which workspace it is.")
    name = as_text(answer.value("team.name")) or as_text(answer.value("enterprise.name"))
    user_id = as_text(answer.value("authed_user.id"))
    url = as_text(answer.value("incoming_webhook.url"))
    channel = as_text(answer.value("incoming_webhook.channel_id"))
    return Grant(
        workspace=given({"id": workspace_id, "name": name, "botUserId": as_text(answer.value("bot_user_id"))}),
        auth=read_auth(answer, now),
        person=None if user_id is None else {"userId": user_id},
        webhook=None if url is None else given({"url": url, "channel": channel}),
    )


def _renewal_request(client: OAuthClient, refresh_token: str) -> ProviderRequest:
    return _access_request(client, {"grant_type": "refresh_token", "refresh_token": refresh_token})


def _access_request(client: OAuthClient, fields: dict[str, str]) -> ProviderRequest:
    return ProviderRequest.form(_ACCESS, {"client_id": client.id, "client_secret": client.secret, **fields})


SLACK = ChatVendor(
    name="Slack",
    person_type=EndpointType.SLACK_USER,
    authorize_url=_authorize_url,
    read_answer=_read_answer,
    renewal_request=_renewal_request,
    accepts_renewal=lambda answer: answer.value("ok") is True,
)
