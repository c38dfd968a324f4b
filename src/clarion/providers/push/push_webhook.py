"""Push webhook: the notification as signed JSON, one call for each device, to an address of one's own."""

from clarion.providers.account import Credentials
from clarion.providers.answer import either, json_id, own_id
from clarion.providers.definition import PushProvider
from clarion.providers.failures import statuses
from clarion.providers.overrides import as_given
from clarion.providers.push.message import Push
from clarion.providers.request import Request, filled
from clarion.providers.secret import Secret
from clarion.providers.signing.webhook import sign_webhook


class PushWebhookCredentials(Credentials):
    webhook_url: str
    secret_key: Secret


def request(account: PushWebhookCredentials, push: Push) -> Request:
    wished = {"data": push.data, "badge": push.badge, "sound": push.sound, "image": push.image}
    body = {
        **push.context,
        "target": [push.token],
        "title": push.title,
        "content": push.body,
        "messageId": push.message_id,
        "overrides": filled(wished),
    }
    return Request.json(account.webhook_url, body)


PROVIDER = PushProvider(
    id="push-webhook",
    name="Push Webhook",
    credentials=PushWebhookCredentials,
    request=request,
    one_call_per_token=True,
    sign=lambda account, call, now: sign_webhook(account.secret_key, call, now),
    sent=either(json_id("id"), own_id),
    failures=(statuses(recipient_invalid=(410,)),),
    casing=as_given,
    page="as its settings say",
    idempotency="`messageId` in the body, the same for each device",
    note="A device is forgotten when the webhook answers 410.",
)
