"""Expo Push: one call per device, which returns a ticket."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.provider import PushProvider
from clarion.providers.definition.receipts import Receipt, ReceiptKind, ReceiptQuery
from clarion.providers.definition.request import ProviderRequest, Size, bearer, drop_empty, json_bytes
from clarion.providers.definition.result import FailureKind, ProviderAnswer, all_equal, codes, error_text, json_id
from clarion.providers.push.message import Push
from clarion.secret import Secret

_API = "https://exp.host/--/api/v2/push"
_MAX_BYTES = 4_096


class ExpoCredentials(Credentials):
    api_key: Secret
    """An access token; Expo requires it if push security is enabled."""


def request(_: ExpoCredentials, push: Push) -> ProviderRequest:
    message = {
        "to": push.token,
        "title": push.title,
        "body": push.body,
        "data": {**push.app_data, "clarion_message_id": push.message_id},
        "sound": push.any_sound,
        "badge": push.badge,
        "richContent": {"image": push.image} if push.image else {},
        # A notification with the same id takes the place of the first one.
        "collapseId": push.message_id,
    }
    return ProviderRequest.json(f"{_API}/send", drop_empty(message))


def casing(name: str) -> str:
    return "_contentAvailable" if name == "contentAvailable" else name


def sizes(call: ProviderRequest) -> Iterator[Size]:
    shown = {name: call.body[name] for name in ("title", "subtitle", "body", "data") if name in call.body}
    yield Size("The notification", json_bytes(shown), _MAX_BYTES)


def check(account: ExpoCredentials) -> ProviderRequest:
    """Fetch the receipt of a ticket that does not exist, which returns an empty list."""
    return receipts_request(account, ["00000000-0000-0000-0000-000000000000"])


def receipts_request(_: ExpoCredentials, tickets: Sequence[str]) -> ProviderRequest:
    return ProviderRequest.json(f"{_API}/getReceipts", {"ids": list(tickets)})


def read_receipts(answer: ProviderAnswer) -> list[Receipt]:
    """Read the receipts that are available; `ok` means that Apple or Google accepted the message, not the device."""
    found = answer.value("data")
    tickets = found.items() if isinstance(found, Mapping) else ()
    return [_receipt(ticket, one) for ticket, one in tickets if isinstance(one, Mapping)]


def _receipt(ticket: str, status: Mapping[str, Any]) -> Receipt:
    details = status.get("details")
    is_dead = isinstance(details, Mapping) and details.get("error") == "DeviceNotRegistered"
    failure = ReceiptKind.BOUNCED if is_dead else ReceiptKind.FAILED
    return Receipt(
        kind=ReceiptKind.SENT if status.get("status") == "ok" else failure,
        provider_message_id=ticket,
        is_hard=is_dead,
        event_id=ticket,
        reason=str(status.get("message") or "") or None,
        raw=status,
    )


PROVIDER = PushProvider(
    id="expo",
    name="Expo Push",
    credentials=ExpoCredentials,
    auth=lambda account: bearer(account.api_key),
    request=request,
    # One call for several devices fails if they belong to different projects.
    is_called_per_token=True,
    sent=json_id("data.id"),
    # Errors of a device come with a 200.
    accepts=all_equal("data.status", "ok"),
    failures=(
        codes(
            "data.details.error",
            recipient_invalid=("DeviceNotRegistered",),
            rate_limited=("MessageRateExceeded",),
            retryable=("ExpoError", "ProviderError"),
        ),
        codes("errors.*.code", rate_limited=("TOO_MANY_REQUESTS",)),
        error_text(r"is not a valid Expo push token", FailureKind.RECIPIENT_INVALID),
        error_text(r"is not a valid Expo push token", FailureKind.RECIPIENT_INVALID, status=200),
    ),
    check=check,
    receipt_query=ReceiptQuery(request=receipts_request, read=read_receipts),
    casing=casing,
    sizes=sizes,
    replaces=True,
    documentation="https://docs.expo.dev/push-notifications/sending-notifications/",
    note="Expo learns of most lost devices only later: it is asked for receipts a quarter of an hour after each send, "
    "and for a day if need be. One that is well says that Apple or Google has the message, not that the device has it.",
)
