"""Stream Chat: a message to a channel through the API, or to a webhook if there is no API secret."""

from clarion.providers.chat.message import KNOWN, Chat
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.overrides import deep_merge, extras, recase, snake
from clarion.providers.definition.provider import ChatProvider
from clarion.providers.definition.request import Headers, ProviderRequest, key_header, path_part
from clarion.providers.definition.result import (
    ALREADY_SENT,
    FailureKind,
    ProviderAnswer,
    SendContext,
    SendFailure,
    Sent,
    codes,
    error_text,
    json_id,
    own_id,
    reset_header,
)
from clarion.providers.signing.jwt import sign_hs256
from clarion.secret import Secret

_API = "https://chat.stream-io-api.com"


class GetstreamCredentials(Credentials):
    api_key: Secret
    secret_key: Secret = Secret("")
    """The API secret; with it, subscribers need a channel instead of a webhook."""
    user: str = "clarion"
    """The id of the user who sends messages."""

    @property
    def auth(self) -> Headers:
        token = sign_hs256(self.secret_key, {"server": True})
        return {**key_header("Authorization", token), "stream-auth-type": "jwt"}


def request(account: GetstreamCredentials, chat: Chat) -> ProviderRequest:
    added = recase(extras(chat.overrides, KNOWN), snake)
    if not account.secret_key:
        body = {"text": chat.text, **added}
        return ProviderRequest.json(chat.webhook_url, body, auth=key_header("X-API-KEY", account.api_key))
    kind, _, channel = chat.channel.rpartition(":")
    if not channel:
        raise SendFailure(FailureKind.RECIPIENT_INVALID, "The subscriber has no channel, such as messaging:general")
    message = {"id": chat.message_id, "text": chat.text, "user_id": account.user}
    url = f"{_API}/channels/{path_part(kind or 'messaging')}/{path_part(channel)}/message"
    call = ProviderRequest.json(url, {"message": deep_merge(message, added)}, auth=account.auth)
    return call.with_query(api_key=account.api_key.reveal())


def sent(answer: ProviderAnswer, context: SendContext) -> str | Sent | None:
    """Return the id from the API; the answer of a webhook has none."""
    return json_id("message.id")(answer, context) if context.account.secret_key else own_id(answer, context)


def check(account: GetstreamCredentials) -> ProviderRequest | None:
    query = {"api_key": account.api_key.reveal()}
    return ProviderRequest.get(f"{_API}/app", query, auth=account.auth) if account.secret_key else None


PROVIDER = ChatProvider(
    id="getstream",
    name="Stream Chat",
    credentials=GetstreamCredentials,
    request=request,
    sent=sent,
    failures=(
        error_text(r"a message with ID \S+ already exists", ALREADY_SENT, status=400),
        codes("code", recipient_invalid=(16,), rate_limited=(9,), retryable=(-1, 23)),
    ),
    read_retry_after=reset_header("X-RateLimit-Reset"),
    check=check,
    casing=None,
    reads=lambda _: True,
    documentation="https://getstream.io/chat/docs/rest/",
    idempotency="`message.id`, with `secretKey`",
    note="With `secretKey`, subscribers have a channel such as `messaging:general` and `user` sends; without it, "
    "a webhook gets the text and `apiKey`.",
)
