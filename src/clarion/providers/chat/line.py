"""LINE: a message of an official account to a person, by the Messaging API."""

from clarion.providers.chat.message import Chat
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.provider import ChatProvider
from clarion.providers.definition.request import ProviderRequest, bearer
from clarion.providers.definition.result import (
    ALREADY_SENT,
    FailureKind,
    SendFailure,
    error_text,
    json_id,
)
from clarion.secret import Secret


class LineCredentials(Credentials):
    token: Secret
    """The channel access token."""


def request(_: LineCredentials, chat: Chat) -> ProviderRequest:
    if not chat.channel:
        raise SendFailure(FailureKind.RECIPIENT_INVALID, "The subscriber has no user id of LINE")
    body = {"to": chat.channel, "messages": [{"type": "text", "text": chat.text}]}
    headers = {"X-Line-Retry-Key": chat.message_id}
    return ProviderRequest.json("https://api.line.me/v2/bot/message/push", body, headers=headers)


PROVIDER = ChatProvider(
    id="line",
    name="LINE",
    credentials=LineCredentials,
    auth=lambda account: bearer(account.token),
    request=request,
    sent=json_id("sentMessages.0.id"),
    failures=(
        error_text(r"retry key is already accepted", ALREADY_SENT, status=409),
        error_text(r"property, 'to'|Failed to send messages", FailureKind.RECIPIENT_INVALID, status=400),
    ),
    check=lambda _: ProviderRequest.get("https://api.line.me/v2/bot/info"),
    documentation="https://developers.line.biz/en/reference/messaging-api/#send-push-message",
    idempotency="`X-Line-Retry-Key`, for 24 hours",
    note="Goes to the person of an endpoint of type `line_user`, or to the subscriber's `channel`. People have to "
    "add the account as a friend first.",
)
