"""WhatsApp Business: Meta's Cloud API, to the subscriber's phone number."""

from collections.abc import Mapping
from typing import Annotated, Any

from clarion.providers.chat.message import Chat
from clarion.providers.definition.credentials import COUNTRY, URL, Credentials
from clarion.providers.definition.provider import ChatProvider
from clarion.providers.definition.receipts import Callback, EventReader, ProviderReply, Receipts, is_same, kinds_of
from clarion.providers.definition.request import ProviderRequest, bearer, drop_empty, path_part
from clarion.providers.definition.result import FailureKind, SendFailure, codes, json_id, values_at
from clarion.providers.signing.signatures import hmac_hex
from clarion.providers.sms.numbers import normalise_number
from clarion.secret import Secret

_TYPES = (
    "template",
    "interactive",
    "image",
    "document",
    "video",
    "audio",
    "location",
    "contacts",
    "sticker",
    "reaction",
)
_READ = frozenset({*_TYPES, "type", "text", "context", "recipientType", "recipient_type"})


class WhatsappBusinessCredentials(Credentials):
    api_token: Secret
    phone_number_identification: str
    """The id of the sender's number, not the number itself."""
    secret_key: Secret = Secret("")
    """The app secret, which signs reports."""
    token: Secret = Secret("")
    """The verify token, by which Meta checks our URL before it sends reports."""
    business_account_id: str = ""
    """The id of the WhatsApp Business account, kept with the integration; sending does not need it."""
    default_region: Annotated[str, COUNTRY] = ""
    base_url: Annotated[str, URL] = "https://graph.facebook.com/v22.0"

    @property
    def number_url(self) -> str:
        return f"{self.base_url.rstrip('/')}/{path_part(self.phone_number_identification)}"


def request(account: WhatsappBusinessCredentials, chat: Chat) -> ProviderRequest:
    if not chat.phone:
        raise SendFailure(FailureKind.RECIPIENT_INVALID, "The subscriber has no phone number")
    number = normalise_number(chat.phone, (chat.phone_region, account.default_region)).removeprefix("+")
    given = chat.overrides
    given_kinds = [one for one in _TYPES if given.get(one)]
    kind = next((one for one in [*given_kinds, "text"] if one == given.get("type")), (*given_kinds, "text")[0])
    text = {"body": chat.text} | (given["text"] if isinstance(given.get("text"), Mapping) else {})
    body = {
        "messaging_product": "whatsapp",
        "recipient_type": given.get("recipient_type") or given.get("recipientType") or "individual",
        "to": number,
        "type": kind,
        kind: text if kind == "text" else given[kind],
        "context": given.get("context"),
        "biz_opaque_callback_data": chat.message_id,
    }
    return ProviderRequest.json(f"{account.number_url}/messages", drop_empty(body))


def is_genuine(callback: Callback, account: WhatsappBusinessCredentials) -> bool:
    scheme, _, signature = callback.headers.get("x-hub-signature-256", "").partition("=")
    return scheme == "sha256" and is_same(signature, hmac_hex(account.secret_key, callback.body))


def handshake(callback: Callback, account: WhatsappBusinessCredentials) -> ProviderReply | None:
    """Answer the verification of our URL, which returns the challenge."""
    if callback.query.get("hub.mode") != "subscribe":
        return None
    is_meta = is_same(callback.query.get("hub.verify_token", ""), account.token.reveal())
    return ProviderReply(body=callback.query.get("hub.challenge", "")) if is_meta else ProviderReply(status=403)


def _statuses(callback: Callback) -> list[Mapping[str, Any]]:
    return list(values_at(callback.json(), "entry.*.changes.*.value.statuses.*"))


RECEIPTS = EventReader(
    kinds=kinds_of(sent=("sent",), delivered=("delivered",), opened=("read", "played"), failed=("failed",)),
    kind="status",
    id="id",
    own_id="biz_opaque_callback_data",
    recipient="recipient_id",
    at="timestamp",
    reason="errors.0.title",
    events=_statuses,
)

PROVIDER = ChatProvider(
    id="whatsapp-business",
    name="WhatsApp Business",
    credentials=WhatsappBusinessCredentials,
    auth=lambda account: bearer(account.api_token),
    request=request,
    sent=json_id("messages.0.id"),
    failures=(
        codes(
            "error.code",
            recipient_invalid=(131021, 131026, 131030, 131050),
            rate_limited=(4, 80007, 130429, 131048, 131056, 133016),
            retryable=(1, 2, 131000, 131016, 131057),
        ),
    ),
    check=lambda account: ProviderRequest.get(account.number_url, {"fields": "display_phone_number"}),
    receipts=Receipts(
        is_genuine=is_genuine, parse=RECEIPTS, handshake=handshake, signed_with="signature, key in `secretKey`"
    ),
    casing=None,
    reads=_READ.__contains__,
    documentation="https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes",
    note="Goes to the subscriber's `phone`. Whoever has not written within 24 hours can be sent a template only: the "
    "override `template`. `token` is the verify token of the webhook.",
)
