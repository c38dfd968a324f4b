"""Slack's OAuth: the addresses, the exchange of a code, and what a grant has."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from msgspec import Struct

from clarion.clock import SECOND, Millis, iso_text
from clarion.providers.definition.request import ProviderRequest
from clarion.providers.definition.result import ProviderAnswer
from clarion.subscribers.addresses.oauth.model import OAuthProblem, OAuthStep

_AUTHORIZE = "https://slack.com/oauth/v2/authorize"
_ACCESS = "https://slack.com/api/oauth.v2.access"
_SCOPE = ("chat:write", "chat:write.public", "channels:read", "groups:read", "users:read", "users:read.email")
_USER_SCOPE = ("identity.basic",)


class Grant(Struct, frozen=True, kw_only=True):
    """What the vendor gave for a code."""

    workspace: dict[str, str]
    auth: dict[str, str]
    """Empty if only a person was linked."""
    user_id: str | None
    webhook: dict[str, str] | None = None
    """An incoming webhook, which needs no token."""


def authorize_url(
    step: OAuthStep, *, client_id: str, redirect_uri: str, state: str, scope: Sequence[str] | None
) -> str:
    name, default = ("scope", _SCOPE) if step is OAuthStep.CONNECT else ("user_scope", _USER_SCOPE)
    wanted = ",".join(scope or default)
    query = {"state": state, "client_id": client_id, "redirect_uri": redirect_uri, name: wanted}
    return f"{_AUTHORIZE}?{urlencode(query)}"


def exchange_request(*, client_id: str, client_secret: str, code: str, redirect_uri: str) -> ProviderRequest:
    fields = {"client_id": client_id, "client_secret": client_secret, "code": code, "redirect_uri": redirect_uri}
    return ProviderRequest.form(_ACCESS, fields)


def read_grant(answer: ProviderAnswer, now: Millis) -> Grant:
    """What Slack answered; raises OAuthProblem if it refused."""
    if answer.value("ok") is not True:
        # One of a list of words, such as invalid_code.
        raise OAuthProblem(f"Slack refused: {_text(answer.value('error')) or f'status {answer.status}'}")
    workspace_id = _text(answer.value("team.id")) or _text(answer.value("enterprise.id"))
    if workspace_id is None:
        raise OAuthProblem("Slack did not say which workspace it is.")
    name = _text(answer.value("team.name")) or _text(answer.value("enterprise.name"))
    workspace = {"id": workspace_id, "name": name, "botUserId": _text(answer.value("bot_user_id"))}
    url = _text(answer.value("incoming_webhook.url"))
    webhook = None if url is None else {"url": url, "channel": _text(answer.value("incoming_webhook.channel_id"))}
    return Grant(
        workspace=_given(workspace),
        auth=_read_auth(answer, now),
        user_id=_text(answer.value("authed_user.id")),
        webhook=None if webhook is None else _given(webhook),
    )


def _read_auth(answer: ProviderAnswer, now: Millis) -> dict[str, str]:
    token = _text(answer.value("access_token"))
    if token is None:
        return {}
    seconds = answer.value("expires_in")
    expires_at = iso_text(Millis(now + seconds * SECOND)) if isinstance(seconds, int) and seconds > 0 else None
    refresh = _text(answer.value("refresh_token"))
    return _given({"accessToken": token, "refreshToken": refresh, "expiresAt": expires_at})


def _given(values: dict[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value and value.isprintable() else None
