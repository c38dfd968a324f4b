"""Kudosity (formerly Burst SMS): API version 1."""

import json

from clarion.providers.definition.credentials import OptionalSenderCredentials
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.receipts import Callback, EventReader, Receipts, form_events, is_same, kinds_of
from clarion.providers.definition.request import ProviderRequest, basic, drop_empty
from clarion.providers.definition.result import all_equal, codes, json_id
from clarion.providers.signing.signatures import hmac_hex
from clarion.providers.sms.message import Sms
from clarion.secret import Secret

_API = "https://api.transmitsms.com"


class BurstSmsCredentials(OptionalSenderCredentials):
    api_key: str
    secret_key: Secret


def request(_: BurstSmsCredentials, sms: Sms) -> ProviderRequest:
    fields = {
        "to": sms.to_digits,
        "message": sms.body,
        "from": sms.sender_digits,
        "dlr_callback": sms.receipts_url,
    }
    return ProviderRequest.form(f"{_API}/send-sms.json", drop_empty(fields))


def is_genuine(callback: Callback, account: BurstSmsCredentials) -> bool:
    """Verify the signature of the parameters, which is made over JSON with slashes escaped as in PHP.

    It is not documented whether our own `token` parameter is included, so both variants are accepted.
    """
    given = callback.headers.get("x-transmitsms-signature", "")
    theirs = {name: value for name, value in callback.query.items() if name != "token"}
    return any(is_same(given, _signature(account, parameters)) for parameters in (callback.query, theirs))


def _signature(account: BurstSmsCredentials, parameters: object) -> str:
    text = json.dumps(parameters, separators=(",", ":")).replace("/", "\\/")
    return hmac_hex(account.secret_key, text.encode())


RECEIPTS = EventReader(
    kinds=kinds_of(delivered=("delivered",), deferred=("pending",), bounced=("soft-bounce", "hard-bounce")),
    kind="status",
    id="message_id",
    recipient="mobile",
    at="datetime",
    is_hard=lambda event: event["status"] == "hard-bounce",
    events=form_events,
)

PROVIDER = SmsProvider(
    id="burst-sms",
    name="Kudosity (Burst SMS)",
    credentials=BurstSmsCredentials,
    auth=lambda account: basic(account.api_key, account.secret_key),
    request=request,
    sent=json_id("message_id"),
    accepts=all_equal("error.code", "SUCCESS"),
    failures=(
        codes("error.code", recipient_invalid=("RECIPIENTS_ERROR",), rate_limited=("OVER_LIMIT",)),
        # Unreachable numbers are skipped without an error.
        codes("recipients", recipient_invalid=(0,)),
    ),
    check=lambda _: ProviderRequest.get(f"{_API}/get-balance.json"),
    receipts=Receipts(is_genuine=is_genuine, parse=RECEIPTS, signed_with="signature, key in `secretKey`"),
    casing=snake,
    documentation="https://developers.kudosity.com/reference/post_send-sms",
)
