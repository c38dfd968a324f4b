"""AfroMessage (Ethiopia), which returns errors with a 200."""

import re
from collections.abc import Mapping
from typing import Any

from clarion.providers.definition.credentials import SenderCredentials
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.receipts import (
    Callback,
    EventReader,
    Receipts,
    json_or_form_events,
    kinds_of,
)
from clarion.providers.definition.request import ProviderRequest, bearer, drop_empty
from clarion.providers.definition.result import FailureKind, ProviderAnswer, json_id
from clarion.providers.sms.message import Sms
from clarion.secret import Secret

_API = "https://api.afromessage.com/api"
_BAD_NUMBER = re.compile(r"invalid (recipient|phone|number|to\b)", re.IGNORECASE)


class AfroMessageCredentials(SenderCredentials):
    """`from` is the identifier of a short code; recipients see the sender name."""

    api_key: Secret
    sender_name: str


def request(account: AfroMessageCredentials, sms: Sms) -> ProviderRequest:
    body = {
        "from": sms.sender,
        "sender": account.sender_name,
        "to": sms.to,
        "message": sms.body,
        "callback": sms.receipts_url,
    }
    return ProviderRequest.json(f"{_API}/send", drop_empty(body))


def accepts(answer: ProviderAnswer) -> bool:
    return str(answer.value("acknowledge")).lower() == "success"


def classify_bad_number(answer: ProviderAnswer) -> FailureKind | None:
    errors = " ".join(map(str, answer.values("response.errors.*")))
    return FailureKind.RECIPIENT_INVALID if _BAD_NUMBER.search(errors) else None


def _events(callback: Callback) -> list[Mapping[str, Any]]:
    return [{**event, "status": str(event.get("status")).upper()} for event in json_or_form_events(callback)]


RECEIPTS = EventReader(
    kinds=kinds_of(
        sent=("SENT",),
        delivered=("DELIVERED", "DELIVRD"),
        bounced=("UNDELIVERED", "UNDELIV", "EXPIRED"),
        failed=("FAILED", "REJECTED", "REJECTD"),
    ),
    kind="status",
    id="message_id",
    recipient="to",
    events=_events,
)

PROVIDER = SmsProvider(
    id="afro-message",
    name="AfroMessage",
    credentials=AfroMessageCredentials,
    auth=lambda account: bearer(account.api_key),
    request=request,
    sent=json_id("response.message_id"),
    accepts=accepts,
    failures=(classify_bad_number,),
    check=lambda _: ProviderRequest.get(f"{_API}/balance"),
    check_passes=accepts,
    receipts=Receipts(parse=RECEIPTS),
    documentation="https://afromessage.com/developers",
    note="Its codes and the words of its receipts are not published: those that its users have seen are understood.",
)
