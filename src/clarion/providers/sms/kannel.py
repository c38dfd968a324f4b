"""Kannel: the gateway that sites run themselves, called by GET and answering in plain text."""

from urllib.parse import urlencode

from clarion.providers.definition.answer import own_id
from clarion.providers.definition.credentials import SenderCredentials
from clarion.providers.definition.failures import text_matches, words
from clarion.providers.definition.kinds import Check, SmsProvider
from clarion.providers.definition.receipts import EventReader, Receipts, by_token, form_events, kinds_of
from clarion.providers.definition.request import ProviderRequest, filled
from clarion.providers.definition.result import FailureKind
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
        return filled({"username": self.user, "password": self.password.reveal()})


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
    return ProviderRequest.get(account.url, filled(fields))


def _report_to(sms: Sms) -> dict[str, str]:
    """Kannel names no message, so our own id is in the address that it reports to; %d and %A are its to fill."""
    if sms.receipts_url is None:
        return {}
    joint = "&" if "?" in sms.receipts_url else "?"
    return {
        "dlr-mask": "31",
        "dlr-url": f"{sms.receipts_url}{joint}{urlencode({'id': sms.message_id})}&type=%d&text=%A",
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
    failures=(words(r"not routable", FailureKind.RECIPIENT_INVALID, status=403),),
    # The log-in is looked at before the receiver is missed.
    check=Check(
        request=lambda account: ProviderRequest.get(account.url, filled({**account.login, "text": "check"})),
        passes=lambda answer: answer.status == 400,
    ),
    receipts=Receipts(is_genuine=by_token, parse=RECEIPTS),
    page="https://www.kannel.org/download/1.4.5/userguide-1.4.5/userguide.html",
)
