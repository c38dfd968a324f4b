"""Webex: a message to a room or a person, with the token of a connection or of a bot."""

from collections.abc import Iterator
from typing import Annotated
from urllib.parse import urlsplit

from clarion.providers.chat.message import Chat
from clarion.providers.definition.credentials import URL, Credentials, FormatRule
from clarion.providers.definition.provider import ChatProvider
from clarion.providers.definition.request import ProviderRequest, Size, bearer, drop_empty
from clarion.providers.definition.result import FailureKind, SendFailure, json_id, statuses
from clarion.secret import Secret

_HOSTS = ("webexapis.com", "api-usgov.webex.com")
_MAX_BYTES = 7_439
_TEXTS = ("text", "markdown")
_TARGETS = ("roomId", "toPersonId", "toPersonEmail")


def _is_webex(text: str) -> bool:
    if not URL.accepts(text):
        return False
    parts = urlsplit(text)
    return parts.scheme == "https" and parts.netloc in _HOSTS and not parts.query and not parts.fragment


# Tokens of connections go there, also those that whoever changes the integration has never seen.
WEBEX_URL = FormatRule(_is_webex, f"must be an https URL at {' or '.join(_HOSTS)}")


class WebexCredentials(Credentials):
    """The app at Webex; messages to endpoints are sent with the tokens of their connections."""

    client_id: str
    secret_key: Secret
    redirect_url: str = ""
    hmac: bool = False
    token: Secret | None = None
    """The token of a bot, for subscribers who have a `channel`."""
    base_url: Annotated[str, WEBEX_URL] = "https://webexapis.com/v1"

    def url(self, path: str) -> str:
        return f"{self.base_url.rstrip('/')}/{path}"


def request(account: WebexCredentials, chat: Chat) -> ProviderRequest:
    token = chat.token or account.token
    if token is None:
        raise SendFailure(
            FailureKind.RECIPIENT_INVALID,
            "There is no token for the address: connect Webex again, or give the integration a `token`",
        )
    target = {
        "roomId": chat.entry.get("roomId") or chat.channel,
        "parentId": chat.entry.get("parentId"),
        "toPersonId": chat.entry.get("personId"),
        "toPersonEmail": chat.entry.get("personEmail"),
    }
    body = drop_empty({**target, "text": chat.text})
    if body.keys().isdisjoint(_TARGETS):
        raise SendFailure(FailureKind.RECIPIENT_INVALID, "The subscriber has no room of Webex")
    return ProviderRequest.json(account.url("messages"), body, auth=bearer(token))


def check(account: WebexCredentials) -> ProviderRequest | None:
    """Test the token of the bot; the tokens of connections belong to subscribers."""
    return ProviderRequest.get(account.url("people/me"), auth=bearer(account.token)) if account.token else None


def sizes(call: ProviderRequest) -> Iterator[Size]:
    for name in _TEXTS:
        text = call.body.get(name)
        if isinstance(text, str):
            yield Size(f"The {name}", len(text.encode()), _MAX_BYTES)


PROVIDER = ChatProvider(
    id="webex-messaging",
    name="Webex",
    credentials=WebexCredentials,
    request=request,
    sent=json_id("id"),
    # Whoever connected may not write there, or there is no such room or person.
    failures=(statuses(recipient_invalid=(403, 404)),),
    sizes=sizes,
    check=check,
    documentation="https://developer.webex.com/docs/api/v1/messages/create-a-message",
    note="Goes to endpoints of type `webex_room` and `webex_person`, with the token of their connection; or, with "
    "`token`, that of a bot, to the subscriber's `channel`, the id of a room.",
)
