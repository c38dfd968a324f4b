"""SimpleTexting: API version 2, for numbers in the United States and Canada."""

import re

from clarion.providers.definition.credentials import OptionalSenderCredentials
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.receipts import EventReader, Receipts, kinds_of
from clarion.providers.definition.request import ProviderRequest, bearer, drop_empty
from clarion.providers.definition.result import json_id
from clarion.providers.sms.message import Sms
from clarion.secret import Secret

_HOST = "https://api-app2.simpletexting.com/v2/api"


class SimpleTextingCredentials(OptionalSenderCredentials):
    api_key: Secret


def request(_: SimpleTextingCredentials, sms: Sms) -> ProviderRequest:
    body = {
        "contactPhone": _ten_digits(sms.to),
        "accountPhone": _ten_digits(sms.sender),
        # Long texts are sent in several parts instead of being refused.
        "mode": "AUTO",
        "text": sms.body,
    }
    return ProviderRequest.json(f"{_HOST}/messages", drop_empty(body))


def _ten_digits(number: str) -> str:
    digits = re.sub(r"\D", "", number)
    return digits[1:] if len(digits) == 11 and digits.startswith("1") else digits


RECEIPTS = EventReader(
    kinds=kinds_of(
        delivered=("DELIVERY_REPORT",), bounced=("NON_DELIVERED_REPORT",), unsubscribed=("UNSUBSCRIBE_REPORT",)
    ),
    kind="type",
    id="values.messageId",
    recipient="number",
    event_id="reportId",
    # Unsubscriptions have the number under another name.
    events=lambda callback: [
        {**event, "number": f"+1{event['values'].get('contactPhone') or event['values'].get('phone')}"}
        for event in callback.events()
    ],
)

PROVIDER = SmsProvider(
    id="simpletexting",
    name="SimpleTexting",
    credentials=SimpleTextingCredentials,
    auth=lambda account: bearer(account.api_key),
    request=request,
    sent=json_id("id"),
    check=lambda _: ProviderRequest.get(f"{_HOST}/tenant"),
    receipts=Receipts(parse=RECEIPTS),
    documentation="https://api-doc.simpletexting.com/",
    note="Which refusals mean a wrong number is not published, so that none is taken for one.",
)
