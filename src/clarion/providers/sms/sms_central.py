"""SMS Central (Australia): forms with upper-case names, answered by a 200 with a number."""

from clarion.providers.definition.credentials import SenderCredentials
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.receipts import EventReader, Receipts, form_events, kinds_of
from clarion.providers.definition.request import ProviderRequest
from clarion.providers.definition.result import ACCOUNT_REFUSED, error_text, own_id, text_matches
from clarion.providers.sms.message import Sms
from clarion.secret import Secret


class SmsCentralCredentials(SenderCredentials):
    user: str
    password: Secret
    base_url: str = "https://my.smscentral.com.au/api/v3.2"

    def call(self, action: str, **fields: str) -> ProviderRequest:
        login = {"USERNAME": self.user, "PASSWORD": self.password.reveal(), "ACTION": action}
        return ProviderRequest.form(self.base_url, {**login, **fields})


def request(account: SmsCentralCredentials, sms: Sms) -> ProviderRequest:
    return account.call(
        "send",
        ORIGINATOR=sms.sender_digits,
        RECIPIENT=sms.to_digits,
        MESSAGE_TEXT=sms.body,
        REFERENCE=sms.message_id,
    )


RECEIPTS = EventReader(
    # The documentation misspells some of these.
    kinds=kinds_of(
        delivered=("DELIVERD", "DELIVERED", "DELIVRD"), deferred=("BUFFRED", "BUFFERED"), bounced=("FAILED",)
    ),
    kind="STATUS",
    own_id="REFERENCE",
    recipient="RECIPIENT",
    reason="STATUSDESCRIPTION",
    events=form_events,
)

PROVIDER = SmsProvider(
    id="sms-central",
    name="SMS Central",
    credentials=SmsCentralCredentials,
    request=request,
    sent=own_id,
    failures=(error_text(r"invalid username or password", ACCOUNT_REFUSED, status=200),),
    accepts=text_matches(r"^\s*0\s*$"),
    check=lambda account: account.call("balance"),
    check_passes=text_matches(r"<balance>"),
    receipts=Receipts(parse=RECEIPTS),
    casing=lambda name: snake(name).upper(),
    documentation="https://www.smscentral.com.au/sms-api/rest-api/send-sms/",
    note="`from` is a number, a name, `shared` or `dedicated`. Which refusals mean a wrong number is not known, "
    "so that none is taken for one.",
)
