"""Kannel: a self-hosted gateway, which is called by GET and answers in plain text."""

from urllib.parse import urlencode

from clarion.providers.definition.credentials import SenderCredentials
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.receipts import EventReader, Receipts, form_events, kinds_of
from clarion.providers.definition.request import ProviderRequest, drop_empty
from clarion.providers.definition.result import ACCOUNT_REFUSED, FailureKind, error_text, own_id, text_matches
from clarion.providers.sms.message import Sms
from clarion.secret import Secret


class KannelCredentials(SenderCredentials):
    host: str
    port: str
    user: str = ""
    password: Secret = Secret("")
    secure: bool = False

    @property
    def url(self) -> str:
        return f"{'https' if self.secure else 'http'}://{self.host}:{self.port}/cgi-bin/sendsms"

    @property
    def login(self) -> dict[str, str]:
        return drop_empty({"username": self.user, "password": self.password.reveal()})


def request(account: KannelCredentials, sms: Sms) -> ProviderRequest:
    fields = {
        **account.login,
        "from": sms.sender,
        "to": sms.to,
        "text": sms.body,
        "charset": "UTF-8",
        "coding": "2" if sms.is_unicode else "0",
        **_report_to(sms),
    }
    return ProviderRequest.get(account.url, drop_empty(fields))


def _report_to(sms: Sms) -> dict[str, str]:
    """Build the callback URL with our id, because Kannel returns none; Kannel replaces %d and %A."""
    if sms.receipts_url is None:
        return {}
    separator = "&" if "?" in sms.receipts_url else "?"
    return {
        "dlr-mask": "31",
        "dlr-url": f"{sms.receipts_url}{separator}{urlencode({'id': sms.message_id})}&type=%d&text=%A",
    }


RECEIPTS = EventReader(
    kinds=kinds_of(delivered=("1",), bounced=("2",), deferred=("4",), sent=("8",), failed=("16",)),
    kind="type",
    own_id="id",
    reason="text",
    events=form_events,
)

PROVIDER = SmsProvider(
    id="kannel",
    name="Kannel",
    credentials=KannelCredentials,
    request=request,
    sent=own_id,
    accepts=text_matches(r"^(0: Accepted|3: Queued|Sent\.)"),
    failures=(
        error_text(r"not routable", FailureKind.RECIPIENT_INVALID, status=403),
        error_text(r"authorization failed", ACCOUNT_REFUSED, status=403),
    ),
    # Kannel checks the login before it complains about the missing recipient.
    check=lambda account: ProviderRequest.get(account.url, drop_empty({**account.login, "text": "check"})),
    check_passes=lambda answer: answer.status == 400,
    receipts=Receipts(parse=RECEIPTS),
    casing=None,
    takes_body=False,
    documentation="https://www.kannel.org/download/1.4.5/userguide-1.4.5/userguide.html",
)
