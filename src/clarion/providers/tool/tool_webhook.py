"""Tool webhook: the text as JSON to the URL of a channel endpoint, signed if there is a key."""

from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.provider import ToolProvider
from clarion.providers.definition.request import Encoding, ProviderRequest
from clarion.providers.definition.result import either, json_id, own_id, statuses
from clarion.providers.signing.signatures import sign_webhook
from clarion.providers.tool.message import Alert
from clarion.secret import Secret


class ToolWebhookCredentials(Credentials):
    secret_key: Secret = Secret("")


def request(_: ToolWebhookCredentials, alert: Alert) -> ProviderRequest:
    return ProviderRequest(
        url=alert.webhook_url,
        method=str(alert.entry.get("method") or "POST"),
        encoding=Encoding.JSON,
        body={"content": alert.text},
        headers={"Idempotency-Key": alert.message_id},
        # They may hold keys, so that no trigger replaces them and no answer shows them.
        auth=dict(alert.entry.get("headers") or {}),
    )


PROVIDER = ToolProvider(
    id="tool-webhook",
    name="Tool Webhook",
    credentials=ToolWebhookCredentials,
    request=request,
    takes_trace=True,
    sign=lambda account, call, now: sign_webhook(account.secret_key, call, now),
    sent=either(json_id("id"), own_id),
    failures=(statuses(recipient_invalid=(401, 403, 410)),),
    documentation="as its settings say",
    idempotency="`Idempotency-Key`",
    note="Goes to endpoints of the type `tool_webhook`, by their method and with their headers; overrides are members "
    "of the body beside `content`.",
)
