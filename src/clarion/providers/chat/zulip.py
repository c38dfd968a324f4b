"""Zulip: a message through the webhook for Slack-compatible integrations."""

from clarion.providers.chat.message import Chat
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import ChatProvider
from clarion.providers.definition.request import ProviderRequest, drop_empty
from clarion.providers.definition.result import ProviderAnswer, codes, seconds_in_body


def request(_: Credentials, chat: Chat) -> ProviderRequest:
    # The URL has the stream; `channel` is the topic.
    return ProviderRequest.json(chat.webhook_url, drop_empty({"text": chat.text, "channel": chat.channel}))


def accepts(answer: ProviderAnswer) -> bool:
    return answer.value("result") == "success" or answer.value("ok") is True


PROVIDER = ChatProvider(
    id="zulip",
    name="Zulip",
    credentials=Credentials,
    request=request,
    accepts=accepts,
    failures=(
        codes(
            "code",
            # The bot in the URL, its stream or the organization no longer exists.
            recipient_invalid=(
                *("INVALID_API_KEY", "USER_DEACTIVATED", "REALM_DEACTIVATED", "STREAM_DOES_NOT_EXIST"),
                "NONEXISTENT_SUBDOMAIN",
            ),
            rate_limited=("RATE_LIMIT_HIT",),
        ),
    ),
    read_retry_after=seconds_in_body("retry-after"),
    casing=snake,
    documentation="https://github.com/zulip/zulip/tree/main/zerver/webhooks/slack_incoming",
    note="The webhook URL holds the API key of a bot and the stream; the subscriber's channel is the topic.",
)
