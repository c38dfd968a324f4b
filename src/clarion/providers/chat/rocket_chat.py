"""Rocket.Chat: a message to a room as a user; the subscriber's webhook is the URL of the workspace."""

import re

from clarion.providers.chat.message import Chat
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.provider import ChatProvider
from clarion.providers.definition.request import ProviderRequest, key_header
from clarion.providers.definition.result import (
    ALREADY_SENT,
    FailureKind,
    ProviderAnswer,
    SendFailure,
    error_text,
    json_id,
)
from clarion.secret import Secret


class RocketChatCredentials(Credentials):
    token: Secret
    """A personal access token."""
    user: str
    """The id of the token's user, not the name."""


def request(account: RocketChatCredentials, chat: Chat) -> ProviderRequest:
    if not chat.channel:
        raise SendFailure(FailureKind.RECIPIENT_INVALID, "The subscriber has no channel, which is the id of a room")
    message = {"_id": chat.message_id, "rid": chat.channel, "msg": chat.text}
    auth = {**key_header("X-Auth-Token", account.token), "X-User-Id": account.user}
    url = f"{chat.webhook_url.rstrip('/')}/api/v1/chat.sendMessage"
    return ProviderRequest.json(url, {"message": message}, auth=auth)


def read_retry_after(answer: ProviderAnswer) -> int | None:
    found = re.search(r"must wait (\d{1,5}) seconds", answer.text)
    return int(found.group(1)) if found else None


PROVIDER = ChatProvider(
    id="rocket-chat",
    name="Rocket.Chat",
    credentials=RocketChatCredentials,
    request=request,
    sent=json_id("message._id"),
    failures=(
        error_text(r"E11000|duplicate key", ALREADY_SENT),
        error_text(r"error-too-many-requests", FailureKind.RATE_LIMITED),
        error_text(r"error-(invalid-room|room-not-found|room-archived)", FailureKind.RECIPIENT_INVALID),
    ),
    read_retry_after=read_retry_after,
    within="message",
    documentation="https://developer.rocket.chat/apidocs/introduction-to-messaging",
    idempotency="`message._id`",
    note="The webhook URL of a subscriber is the address of the workspace, the channel is the id of a room, "
    "and the user has to be a member of it.",
)
