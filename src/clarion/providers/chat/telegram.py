"""Telegram: a message of a bot to a chat."""

from clarion.providers.chat.message import Chat
from clarion.providers.definition.changes import ChangeKind, Place, SentMessage
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.edits import Edits
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import ChatProvider
from clarion.providers.definition.request import ProviderRequest, path_part
from clarion.providers.definition.result import (
    FailureKind,
    ProviderAnswer,
    SendContext,
    SendFailure,
    codes,
    json_id,
    seconds_in_body,
)
from clarion.secret import Secret


class TelegramCredentials(Credentials):
    api_token: Secret
    """The token of the bot, as BotFather gave it."""
    hmac: bool = False
    """Whether sessions of inboxes need a proof before they link a chat."""

    def url(self, method: str) -> str:
        return f"https://api.telegram.org/bot{path_part(self.api_token.reveal())}/{method}"


def request(account: TelegramCredentials, chat: Chat) -> ProviderRequest:
    if not chat.channel:
        raise SendFailure(FailureKind.RECIPIENT_INVALID, "The subscriber has no chat with the bot")
    return ProviderRequest.json(account.url("sendMessage"), {"chat_id": chat.channel, "text": chat.text})


def update(account: TelegramCredentials, chat: Chat, sent: SentMessage) -> ProviderRequest:
    return ProviderRequest.json(account.url("editMessageText"), {**_address(sent), "text": chat.text})


def withdraw(account: TelegramCredentials, _: Chat, sent: SentMessage) -> ProviderRequest:
    return ProviderRequest.json(account.url("deleteMessage"), _address(sent))


def read_place(answer: ProviderAnswer, _: SendContext) -> Place | None:
    chat_id = answer.value("result.chat.id")
    return None if chat_id is None else {"chat": str(chat_id)}


def is_done(answer: ProviderAnswer, kind: ChangeKind) -> bool:
    return str(answer.value("description")).startswith(_DONE[kind])


def _address(sent: SentMessage) -> dict[str, object]:
    return {"chat_id": sent.place["chat"], "message_id": sent.provider_message_id}


_DONE = {
    ChangeKind.UPDATE: "Bad Request: message is not modified",
    ChangeKind.WITHDRAW: "Bad Request: message to delete not found",
}


def accepts(answer: ProviderAnswer) -> bool:
    return answer.value("ok") is True


PROVIDER = ChatProvider(
    id="telegram",
    name="Telegram",
    credentials=TelegramCredentials,
    request=request,
    sent=json_id("result.message_id"),
    accepts=accepts,
    failures=(
        codes(
            "description",
            recipient_invalid=(
                *("Bad Request: chat not found", "Bad Request: group chat was upgraded to a supergroup chat"),
                *("Bad Request: PEER_ID_INVALID", "Bad Request: user not found"),
            ),
        ),
        # The person has blocked the bot, or the bot was removed from the group.
        codes("error_code", recipient_invalid=(403,), rate_limited=(429,)),
    ),
    read_retry_after=seconds_in_body("parameters.retry_after"),
    edits=Edits(read_place=read_place, update=update, withdraw=withdraw, is_done=is_done),
    check=lambda account: ProviderRequest(url=account.url("getMe"), method="GET"),
    check_passes=accepts,
    casing=snake,
    documentation="https://core.telegram.org/bots/api#sendmessage",
    note="Goes to the chat of an endpoint of type `telegram_chat`, or to the subscriber's `channel`, the id of a chat. "
    "People have to write to the bot first.",
)
