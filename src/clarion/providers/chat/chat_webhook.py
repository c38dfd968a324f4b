"""Chat webhook: the message as JSON, signed if there is a key, to the URL of the subscriber or the account."""

from clarion.providers.chat.message import Chat
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.provider import ChatProvider
from clarion.providers.definition.request import ProviderRequest, drop_empty
from clarion.providers.definition.result import FailureKind, SendFailure, either, json_id, own_id, statuses
from clarion.providers.signing.signatures import sign_webhook
from clarion.secret import Secret


class ChatWebhookCredentials(Credentials):
    webhook_url: str = ""
    """Of those who have no address of their own."""
    secret_key: Secret = Secret("")


def request(account: ChatWebhookCredentials, chat: Chat) -> ProviderRequest:
    url = chat.webhook or account.webhook_url
    if not url:
        message = "Neither the subscriber nor the integration has a webhookUrl"
        raise SendFailure(FailureKind.RECIPIENT_INVALID, message)
    body = {
        "content": chat.text,
        # Part of the signed body, so that a receiver cannot replay the call to another one.
        "webhookUrl": url,
        "channel": chat.channel,
        "phoneNumber": chat.phone,
    }
    return ProviderRequest.json(url, drop_empty(body), headers={"Idempotency-Key": chat.message_id})


PROVIDER = ChatProvider(
    id="chat-webhook",
    name="Chat Webhook",
    credentials=ChatWebhookCredentials,
    request=request,
    takes_trace=True,
    sign=lambda account, call, now: sign_webhook(account.secret_key, call, now),
    sent=either(json_id("id"), own_id),
    failures=(statuses(recipient_invalid=(410,)),),
    documentation="as its settings say",
    idempotency="`Idempotency-Key`",
    note="Goes to the subscriber's `webhookUrl`, or to that of the integration if the subscriber has none.",
)
