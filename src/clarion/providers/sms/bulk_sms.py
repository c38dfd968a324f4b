"""BulkSMS: JSON REST API."""

from clarion.providers.definition.credentials import OptionalSenderCredentials
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.receipts import EventReader, Receipts, kinds_of
from clarion.providers.definition.request import Headers, ProviderRequest, basic, drop_empty
from clarion.providers.definition.result import FailureKind, error_text, json_id
from clarion.providers.sms.message import Sms, count_parts
from clarion.secret import Secret

_API = "https://api.bulksms.com/v1"


class BulkSmsCredentials(OptionalSenderCredentials):
    api_token: Secret
    """The id and the secret of a token, separated by a colon."""

    @property
    def auth(self) -> Headers:
        token_id, _, secret = self.api_token.reveal().partition(":")
        return basic(token_id, Secret(secret.strip()))


def request(_: BulkSmsCredentials, sms: Sms) -> ProviderRequest:
    body = {
        "to": sms.to,
        "body": sms.body,
        "from": sms.sender,
        "encoding": "UNICODE" if sms.is_unicode else "TEXT",
        # The default limit is three parts.
        "longMessageMaxParts": max(count_parts(sms.body), 3),
    }
    # `deduplication-id` has only 31 bits: among many messages, a collision would drop one.
    return ProviderRequest.json(f"{_API}/messages", drop_empty(body))


RECEIPTS = EventReader(
    kinds=kinds_of(sent=("SENT",), delivered=("DELIVERED",), bounced=("FAILED",)),
    kind="status.type",
    id="id",
    recipient="to",
    reason="status.subtype",
    is_hard=lambda event: event["status"].get("subtype") == "BLOCKED",
)

PROVIDER = SmsProvider(
    id="bulk-sms",
    name="BulkSMS",
    credentials=BulkSmsCredentials,
    auth=lambda account: account.auth,
    request=request,
    sent=json_id("0.id"),
    failures=(error_text(r"recipient|phone ?number|msisdn", FailureKind.RECIPIENT_INVALID, status=400),),
    check=lambda _: ProviderRequest.get(f"{_API}/profile"),
    receipts=Receipts(parse=RECEIPTS),
    documentation="https://www.bulksms.com/developer/json/v1/",
    note="`apiToken` is the token's id and its secret with a colon between them. Receipts need a webhook for `SENT`. "
    "Its documentation does not say how it words a number that cannot be: a 400 that speaks of the recipient or of a "
    "phone number is taken for one, and any other refusal goes to the next integration.",
)
