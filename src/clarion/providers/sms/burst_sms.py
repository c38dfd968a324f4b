"""Kudosity (formerly Burst SMS): version 1 of its API."""

import json

from clarion.providers.definition.answer import json_id
from clarion.providers.definition.credentials import OptionalSenderCredentials
from clarion.providers.definition.failures import all_equal, codes
from clarion.providers.definition.kinds import Check, SmsProvider
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.receipts import Callback, EventReader, Receipts, form_events, is_same, kinds_of
from clarion.providers.definition.request import Headers, ProviderRequest, basic, filled
from clarion.providers.signing.digests import hmac_hex
from clarion.providers.sms.message import Sms
from clarion.secret import Secret

_API = "https://api.transmitsms.com"


class BurstSmsCredentials(OptionalSenderCredentials):
    api_key: str
    secret_key: Secret

    @property
    def auth(self) -> Headers:
        return basic(self.api_key, self.secret_key)


def request(account: BurstSmsCredentials, sms: Sms) -> ProviderRequest:
    fields = {
        "to": sms.to_digits,
        "message": sms.body,
        "from": sms.sender_digits,
        "dlr_callback": sms.receipts_url,
    }
    return ProviderRequest.form(f"{_API}/send-sms.json", filled(fields), auth=account.auth)


def is_genuine(callback: Callback, account: BurstSmsCredentials) -> bool:
    """The parameters are signed as JSON in the order they came, with slashes escaped as PHP does.

    Whether those of our own address are among them is not said.
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
    request=request,
    sent=json_id("message_id"),
    accepts=all_equal("error.code", "SUCCESS"),
    failures=(
        codes("error.code", recipient_invalid=("RECIPIENTS_ERROR",), rate_limited=("OVER_LIMIT",)),
        # Numbers that it cannot reach are left out without a word.
        codes("recipients", recipient_invalid=(0,)),
    ),
    check=Check(request=lambda account: ProviderRequest.get(f"{_API}/get-balance.json", auth=account.auth)),
    receipts=Receipts(is_genuine=is_genuine, parse=RECEIPTS, signed_with="signature, key in `secretKey`"),
    casing=snake,
    page="https://developers.kudosity.com/reference/post_send-sms",
)
