"""Clickatell: One API."""

from collections.abc import Mapping
from typing import Any

from clarion.providers.definition.credentials import OptionalSenderCredentials
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.receipts import Callback, EventReader, Receipts, kinds_of
from clarion.providers.definition.request import ProviderRequest, drop_empty, key_header
from clarion.providers.definition.result import codes, json_id, values_at
from clarion.providers.sms.message import Sms
from clarion.secret import Secret

_HOST = "https://platform.clickatell.com"
# Codes of the request or of one message; 43 comes with a 400.
_CODES = {"recipient_invalid": (25, 26, 27, 28), "rate_limited": (43,), "retryable": (18, 19)}


class ClickatellCredentials(OptionalSenderCredentials):
    api_key: Secret


def request(_: ClickatellCredentials, sms: Sms) -> ProviderRequest:
    message = {
        "channel": "sms",
        "to": sms.to_digits,
        "content": sms.body,
        "from": sms.sender_digits,
        "clientMessageId": sms.message_id,
    }
    return ProviderRequest.json(f"{_HOST}/v1/message", {"messages": [drop_empty(message)]})


def _events(callback: Callback) -> list[Mapping[str, Any]]:
    return [update for call in callback.events() for update in values_at(call, "event.messageStatusUpdate.*")]


RECEIPTS = EventReader(
    kinds=kinds_of(
        sent=("4",),
        delivered=("5",),
        opened=("6",),
        bounced=("20", "23", "29", "100"),
        failed=("21", "22", "25", "26", "27", "28"),
    ),
    kind="statusCode",
    id="messageId",
    own_id="clientMessageId",
    at="timestamp",
    reason="status",
    # Unknown number.
    is_hard=lambda event: str(event["statusCode"]) == "29",
    events=_events,
)

PROVIDER = SmsProvider(
    id="clickatell",
    name="Clickatell",
    credentials=ClickatellCredentials,
    auth=lambda account: key_header("Authorization", account.api_key),
    request=request,
    sent=json_id("messages.0.apiMessageId"),
    accepts=lambda answer: answer.values("messages.*.accepted") == [True],
    failures=(codes("messages.*.error.code", **_CODES), codes("error.code", **_CODES)),
    check=lambda _: ProviderRequest.get(f"{_HOST}/public-client/balance"),
    receipts=Receipts(parse=RECEIPTS),
    casing=None,
    documentation="https://docs.clickatell.com/channels/one-api/one-api-reference/",
    note="`from` is for two-way integrations alone. The address for receipts is set in the portal.",
)
