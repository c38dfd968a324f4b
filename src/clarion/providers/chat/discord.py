"""Discord: a message to the webhook of a channel."""

from clarion.providers.chat.message import Chat
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import ChatProvider
from clarion.providers.definition.request import ProviderRequest
from clarion.providers.definition.result import codes, json_id, seconds_in_body


def request(_: Credentials, chat: Chat) -> ProviderRequest:
    # Template values must not be able to mention everyone.
    body = {"content": chat.text, "allowed_mentions": {"parse": []}}
    # Without `wait`, the answer is empty and errors are not reported.
    thread = {"thread_id": chat.channel} if chat.channel else {}
    return ProviderRequest.json(chat.webhook_url, body).with_query(wait="true", **thread)


PROVIDER = ChatProvider(
    id="discord",
    name="Discord",
    credentials=Credentials,
    request=request,
    sent=json_id("id"),
    # Unknown channel or webhook, or an invalid webhook token.
    failures=(codes("code", recipient_invalid=(10003, 10015, 50027), retryable=(130000,)),),
    read_retry_after=seconds_in_body("retry_after"),
    casing=snake,
    documentation="https://docs.discord.com/developers/resources/webhook#execute-webhook",
)
