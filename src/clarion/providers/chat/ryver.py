"""Ryver: a message through an inbound webhook in the Ryver format."""

from clarion.providers.chat.message import Chat
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.provider import ChatProvider
from clarion.providers.definition.request import ProviderRequest
from clarion.providers.definition.result import statuses


def request(_: Credentials, chat: Chat) -> ProviderRequest:
    return ProviderRequest.json(chat.webhook_url, {"body": chat.text})


PROVIDER = ChatProvider(
    id="ryver",
    name="Ryver",
    credentials=Credentials,
    request=request,
    # Errors are not documented. A missing URL can only mean that the webhook was deleted.
    failures=(statuses(recipient_invalid=(404, 410)),),
    documentation="https://api.ryver.com/ryvhooks_simple_incoming.html",
    note="The webhook has to be one of the Ryver format, which is chosen when it is made.",
)
