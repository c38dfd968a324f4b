"""Discord: a message to the webhook of a channel."""

from msgspec.structs import replace

from clarion.providers.chat.message import Chat
from clarion.providers.definition.changes import ChangeKind, Place, SentMessage
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.edits import Edits
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import ChatProvider
from clarion.providers.definition.request import ProviderRequest, path_part
from clarion.providers.definition.result import ProviderAnswer, SendContext, codes, json_id, seconds_in_body

_UNKNOWN_MESSAGE = 10008


def request(_: Credentials, chat: Chat) -> ProviderRequest:
    # Without `wait`, the answer is empty and errors are not reported.
    thread = {"thread_id": chat.channel} if chat.channel else {}
    return ProviderRequest.json(chat.webhook_url, _body(chat)).with_query(wait="true", **thread)


def update(_: Credentials, chat: Chat, sent: SentMessage) -> ProviderRequest:
    # What a trigger had added to the first text goes with it.
    request = ProviderRequest.json(_message_url(chat, sent), _body(chat) | {"embeds": []})
    return replace(request, method="PATCH").with_query(**sent.place)


def withdraw(_: Credentials, chat: Chat, sent: SentMessage) -> ProviderRequest:
    return ProviderRequest(url=_message_url(chat, sent), method="DELETE", query=sent.place)


def read_place(_: ProviderAnswer, context: SendContext) -> Place:
    """Read the thread, which the URL of a message does not name."""
    return {"thread_id": context.message.channel} if context.message.channel else {}


def is_done(answer: ProviderAnswer, kind: ChangeKind) -> bool:
    return kind is ChangeKind.WITHDRAW and answer.value("code") == _UNKNOWN_MESSAGE


def _body(chat: Chat) -> dict[str, object]:
    # Template values must not be able to mention everyone.
    return {"content": chat.text, "allowed_mentions": {"parse": []}}


def _message_url(chat: Chat, sent: SentMessage) -> str:
    url, mark, query = chat.webhook_url.partition("?")
    return f"{url.rstrip('/')}/messages/{path_part(sent.provider_message_id)}{mark}{query}"


PROVIDER = ChatProvider(
    id="discord",
    name="Discord",
    credentials=Credentials,
    request=request,
    sent=json_id("id"),
    # Unknown channel or webhook, or an invalid webhook token.
    failures=(codes("code", recipient_invalid=(10003, 10015, 50027), retryable=(130000,)),),
    read_retry_after=seconds_in_body("retry_after"),
    edits=Edits(read_place=read_place, update=update, withdraw=withdraw, is_done=is_done),
    casing=snake,
    documentation="https://docs.discord.com/developers/resources/webhook#execute-webhook",
)
