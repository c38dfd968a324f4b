"""Gupshup: enterprise gateway (India), which answers in plain text and returns errors with a 200."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from clarion.providers.definition.credentials import OptionalSenderCredentials
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.receipts import Callback, EventReader, Receipts, kinds_of
from clarion.providers.definition.request import ProviderRequest, drop_empty
from clarion.providers.definition.result import text_codes, text_id, text_matches
from clarion.providers.sms.message import Sms
from clarion.secret import Secret

_CONSTANT_FIELDS = {"method": "SendMessage", "auth_scheme": "plain", "v": "1.1", "format": "text"}
_NAMES = {"eventType": "status", "destAddr": "phoneNo", "eventTs": "deliveredTS"}


class GupshupCredentials(OptionalSenderCredentials):
    user: str
    password: Secret


def request(account: GupshupCredentials, sms: Sms) -> ProviderRequest:
    fields = {
        **_CONSTANT_FIELDS,
        "send_to": sms.to_digits,
        "msg": sms.body,
        "msg_type": "UNICODE_TEXT" if sms.is_unicode else "TEXT",
        "userid": account.user,
        "password": account.password.reveal(),
        "mask": sms.sender,
    }
    return ProviderRequest.form("https://enterprise.smsgupshup.com/GatewayAPI/rest", drop_empty(fields))


def _events(callback: Callback) -> list[Mapping[str, Any]]:
    """Return one event from the query of a GET, or up to twenty from JSON in a form, with other names."""
    if not callback.body:
        return [callback.query]
    listed = replace(callback, body=callback.form().get("response", "").encode()).events()
    return [{_NAMES.get(name, name): value for name, value in one.items()} for one in listed]


RECEIPTS = EventReader(
    kinds=kinds_of(delivered=("SUCCESS", "DELIVERED"), bounced=("FAILURE", "FAILED")),
    kind="status",
    id="externalId",
    recipient="phoneNo",
    at="deliveredTS",
    reason="cause",
    events=_events,
)

PROVIDER = SmsProvider(
    id="gupshup",
    name="Gupshup",
    credentials=GupshupCredentials,
    request=request,
    sent=text_id(r"^\s*success\s*\|[^|]*\|\s*([^|\s]+)"),
    accepts=text_matches(r"^\s*success\s*\|"),
    failures=(text_codes(r"^\s*error\W*(\d+)", recipient_invalid=(105,), retryable=(100,), account_refused=(102,)),),
    receipts=Receipts(parse=RECEIPTS),
    documentation="https://docs.gupshup.io/docs/getting-started-with-sms-api",
    note="`from` is the mask, and the ids of DLT are overrides. The address for receipts is set in the account.",
)
