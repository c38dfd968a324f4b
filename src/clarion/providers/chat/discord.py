"""Discord: a message to the webhook of a channel."""

from clarion.providers.chat.message import Chat
from clarion.providers.definition.answer import json_id
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.failures import codes, seconds_in_body
from clarion.providers.definition.kinds import ChatProvider
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.request import ProviderRequest


def request(_: Credentials, chat: Chat) -> ProviderRequest:
    # Whoever fills a template with names must not be able to call everyone.
    body = {"content": chat.text, "allowed_mentions": {"parse": []}}
    # Without waiting, the answer is empty and failures are silent.
    thread = {"thread_id": chat.channel} if chat.channel else {}
    return ProviderRequest.json(chat.webhook_url, body).with_query(wait="true", **thread)


PROVIDER = ChatProvider(
    id="discord",
    name="Discord",
    credentials=Credentials,
    request=request,
    sent=json_id("id"),
    # The webhook, its token or its thread is gone.
    failures=(codes("code", recipient_invalid=(10003, 10015, 50027), retryable=(130000,)),),
    patience=seconds_in_body("retry_after"),
    casing=snake,
    page="https://docs.discord.com/developers/resources/webhook#execute-webhook",
)
