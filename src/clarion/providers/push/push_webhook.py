"""Push webhook: the notification as signed JSON to a URL of the user, one call per device."""

from typing import Annotated

from clarion.providers.definition.credentials import URL, Credentials, FormatRule
from clarion.providers.definition.provider import PushProvider
from clarion.providers.definition.request import ProviderRequest, drop_empty
from clarion.providers.definition.result import either, json_id, own_id, statuses
from clarion.providers.push.message import Push
from clarion.providers.signing.signatures import sign_webhook
from clarion.providers.transport.apprise_client import APPRISE_URL, is_installed
from clarion.secret import Secret


def _is_url_or_apprise(text: str) -> bool:
    return URL.accepts(text) or (text == APPRISE_URL and is_installed())


URL_OR_APPRISE = FormatRule(
    _is_url_or_apprise, f"must be an http(s) URL, or {APPRISE_URL} where clarion[apprise] is installed"
)


class PushWebhookCredentials(Credentials):
    webhook_url: Annotated[str, URL_OR_APPRISE]
    secret_key: Secret


def request(account: PushWebhookCredentials, push: Push) -> ProviderRequest:
    options = {
        **push.options,
        "data": push.data,
        "badge": push.badge,
        "sound": push.any_sound,
        "image": push.image,
    }
    body = {
        **push.context,
        "target": [push.token],
        "title": push.title,
        "content": push.body,
        "messageId": push.message_id,
        "overrides": drop_empty(options),
    }
    return ProviderRequest.json(account.webhook_url, body)


PROVIDER = PushProvider(
    id="push-webhook",
    name="Push Webhook",
    credentials=PushWebhookCredentials,
    request=request,
    is_called_per_token=True,
    can_use_apprise=True,
    takes_trace=True,
    sign=lambda account, call, now: sign_webhook(account.secret_key, call, now),
    sent=either(json_id("id"), own_id),
    failures=(statuses(recipient_invalid=(410,)),),
    documentation="as its settings say",
    idempotency="`messageId` in the body, the same for each device",
    note="`payload` has the trigger's payload, `subscriber` and `step` (the digest before it). A device is "
    "forgotten when the webhook answers 410. With `clarion[apprise]` installed, `webhookUrl` may be "
    "`apprise:`. Device tokens are URLs of Apprise then, such as `ntfy://topic`, and `secretKey` is any text.",
)
