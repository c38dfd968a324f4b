"""seven (formerly sms77): SMS as JSON, with error codes in a 200, and signed webhooks."""

from hashlib import md5

from clarion.providers.definition.credentials import SenderCredentials
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.receipts import Callback, EventReader, Receipts, is_same, kinds_of
from clarion.providers.definition.request import ProviderRequest, key_header
from clarion.providers.definition.result import ProviderAnswer, codes, either, json_id, own_id, text_codes
from clarion.providers.signing.signatures import hmac_hex
from clarion.providers.sms.message import Sms
from clarion.secret import Secret

_HOST = "https://gateway.seven.io/api"
_CODES: dict[str, tuple[int, ...]] = {
    "recipient_invalid": (201, 202),
    "rate_limited": (403,),
    "retryable": (600, 700),
    # The same text was sent to the same number within the last three minutes.
    "already_sent": (402,),
}


class SevenCredentials(SenderCredentials):
    api_key: Secret
    secret_key: Secret = Secret("")
    """The signing key of the account, which verifies webhooks."""


def request(_: SevenCredentials, sms: Sms) -> ProviderRequest:
    body = {"to": sms.to, "from": sms.sender_digits, "text": sms.body, "foreign_id": sms.message_id}
    # Without this header, the answer is only a code.
    return ProviderRequest.json(f"{_HOST}/sms", body, headers={"Accept": "application/json"})


def accepts(answer: ProviderAnswer) -> bool:
    return str(answer.value("success")) == "100" and all(answer.values("messages.*.success"))


def is_genuine(callback: Callback, account: SevenCredentials) -> bool:
    timestamp, nonce = callback.headers.get("x-timestamp", ""), callback.headers.get("x-nonce", "")
    digest = md5(callback.body, usedforsecurity=False).hexdigest()
    text = f"{timestamp}\n{nonce}\n{callback.method}\n{callback.url}\n{digest}"
    expected = hmac_hex(account.secret_key, text.encode())
    return callback.is_recent(timestamp) and is_same(callback.headers.get("x-signature", ""), expected)


RECEIPTS = EventReader(
    kinds=kinds_of(
        sent=("ACCEPTED", "TRANSMITTED"),
        delivered=("DELIVERED",),
        deferred=("BUFFERED",),
        bounced=("NOTDELIVERED", "EXPIRED"),
        failed=("REJECTED", "FAILED"),
    ),
    kind="data.status",
    id="data.msg_id",
    own_id="data.foreign_id",
    at="webhook_timestamp",
)

PROVIDER = SmsProvider(
    id="sms77",
    name="seven",
    credentials=SevenCredentials,
    auth=lambda account: key_header("X-Api-Key", account.api_key),
    request=request,
    # Free messages have no id.
    sent=either(json_id("messages.0.id"), own_id),
    accepts=accepts,
    failures=(
        codes("messages.*.error", **_CODES),
        codes("success", **_CODES),
        text_codes(r'^\s*"?(\d{3})"?\s*$', **_CODES),
    ),
    check=lambda _: ProviderRequest.get(f"{_HOST}/balance"),
    check_passes=lambda answer: answer.is_success and answer.text.strip() != "900",
    receipts=Receipts(is_genuine=is_genuine, parse=RECEIPTS, signed_with="signature, key in `secretKey`"),
    casing=snake,
    documentation="https://docs.seven.io/en/rest-api/endpoints/sms",
    note="Webhooks have to be of the type JSON.",
)
