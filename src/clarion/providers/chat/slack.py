"""Slack: a message to an incoming webhook, or to a channel with a bot token."""

from collections.abc import Mapping

from clarion.providers.chat.message import Chat
from clarion.providers.definition.changes import ChangeKind, Place, SentMessage
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.edits import Edits
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import ChatProvider
from clarion.providers.definition.request import ProviderRequest, bearer
from clarion.providers.definition.result import (
    FailureKind,
    ProviderAnswer,
    SendContext,
    SendFailure,
    codes,
    either,
    error_text,
    header_id,
    json_id,
    own_id,
)
from clarion.secret import Secret


class SlackCredentials(Credentials):
    application_id: str
    client_id: str
    secret_key: Secret
    redirect_url: str = ""
    hmac: bool = False
    token: Secret | None = None
    """A bot token; with it, subscribers need a channel instead of a webhook."""
    signing_secret: Secret | None = None
    """Kept for those who verify what Slack calls; sending does not use it."""


def request(account: SlackCredentials, chat: Chat) -> ProviderRequest:
    if chat.channel and not chat.webhook:
        return _call(account, chat, "chat.postMessage", {"channel": chat.channel, "text": chat.text})
    return ProviderRequest.json(chat.webhook_url, {"text": chat.text})


def update(account: SlackCredentials, chat: Chat, sent: SentMessage) -> ProviderRequest:
    # Without them, Slack goes on showing what a trigger had added to the first text.
    no_others: dict[str, list[str]] = {"blocks": [], "attachments": []}
    return _call(account, chat, "chat.update", {**_address(sent), "text": chat.text, **no_others})


def withdraw(account: SlackCredentials, chat: Chat, sent: SentMessage) -> ProviderRequest:
    return _call(account, chat, "chat.delete", _address(sent))


def read_place(answer: ProviderAnswer, _: SendContext) -> Place | None:
    """Read the id of the channel, which a bot gets and a webhook does not."""
    channel = answer.value("channel")
    return {"channel": channel} if isinstance(channel, str) and answer.value("ts") else None


def is_done(answer: ProviderAnswer, kind: ChangeKind) -> bool:
    return kind is ChangeKind.WITHDRAW and answer.value("error") == "message_not_found"


def _call(account: SlackCredentials, chat: Chat, method: str, body: Mapping[str, object]) -> ProviderRequest:
    token = chat.token or account.token
    if token is None:
        raise SendFailure(
            FailureKind.RECIPIENT_INVALID,
            "There is no token for the channel: connect the workspace again, or give the integration a `token`",
        )
    return ProviderRequest.json(f"https://slack.com/api/{method}", body, auth=bearer(token))


def _address(sent: SentMessage) -> dict[str, str]:
    return {"channel": sent.place["channel"], "ts": sent.provider_message_id}


def accepts(answer: ProviderAnswer) -> bool:
    """Webhooks answer the text `ok`; the API reports errors in `ok`, with a 200."""
    return answer.value("ok") is not False


def check(account: SlackCredentials) -> ProviderRequest | None:
    """Test the bot token; without one there is nothing to test, because webhooks belong to subscribers."""
    return ProviderRequest(url="https://slack.com/api/auth.test", auth=bearer(account.token)) if account.token else None


_GONE = r"^(invalid_token|no_service|no_service_id|no_team|no_active_hooks|channel_not_found|channel_is_archived)$"

PROVIDER = ChatProvider(
    id="slack",
    name="Slack",
    credentials=SlackCredentials,
    request=request,
    sent=either(json_id("ts"), header_id("X-Slack-Req-Id"), own_id),
    accepts=accepts,
    failures=(
        codes(
            "error",
            rate_limited=("ratelimited", "rate_limited"),
            retryable=("internal_error", "fatal_error", "request_timeout", "service_unavailable"),
            recipient_invalid=("channel_not_found", "is_archived", "not_in_channel", "user_not_found"),
        ),
        error_text(_GONE, FailureKind.RECIPIENT_INVALID),
    ),
    edits=Edits(read_place=read_place, update=update, withdraw=withdraw, is_done=is_done),
    check=check,
    check_passes=lambda answer: answer.value("ok") is True,
    casing=snake,
    documentation="https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks",
    note="With `token`, that of a bot, subscribers may have a `channel` instead of a `webhookUrl`.",
)
