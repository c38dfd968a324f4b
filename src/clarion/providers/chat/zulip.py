"""Zulip: a message by its webhook for integrations that speak as to Slack."""

from clarion.providers.chat.message import Chat
from clarion.providers.definition.answer import ProviderAnswer
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.failures import codes, seconds_in_body
from clarion.providers.definition.kinds import ChatProvider
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.request import ProviderRequest, filled


def request(_: Credentials, chat: Chat) -> ProviderRequest:
    # The stream is in the address; what Slack calls a channel is the topic here.
    return ProviderRequest.json(chat.webhook_url, filled({"text": chat.text, "channel": chat.channel}))


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
            # The bot whose key is in the address is gone, or its stream, or the organization.
            recipient_invalid=(
                *("INVALID_API_KEY", "USER_DEACTIVATED", "REALM_DEACTIVATED", "STREAM_DOES_NOT_EXIST"),
                "NONEXISTENT_SUBDOMAIN",
            ),
            rate_limited=("RATE_LIMIT_HIT",),
        ),
    ),
    patience=seconds_in_body("retry-after"),
    casing=snake,
    page="https://github.com/zulip/zulip/tree/main/zerver/webhooks/slack_incoming",
    note="The webhook URL holds the API key of a bot and the stream; the subscriber's channel is the topic.",
)
