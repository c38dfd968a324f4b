"""Netcore (formerly Pepipost): e-mail API version 5.1, and unsigned events."""

from clarion.providers.definition.credentials import EmailCredentials
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import EmailProvider
from clarion.providers.definition.receipts import EventReader, Receipts, kinds_of
from clarion.providers.definition.request import ProviderRequest, drop_empty, key_header
from clarion.providers.definition.result import FailureKind, all_equal, error_text, json_id
from clarion.providers.email.message import Email, mailbox, mailboxes
from clarion.secret import Secret


class NetcoreCredentials(EmailCredentials):
    api_key: Secret
    region: str = ""
    ip_pool_name: str = ""

    @property
    def host(self) -> str:
        return "https://apieu.netcorecloud.net" if self.region == "eu" else "https://emailapi.netcorecloud.net"


def request(account: NetcoreCredentials, email: Email) -> ProviderRequest:
    person = {
        "to": mailboxes(email.all_to),
        "cc": [{"email": one.addr_spec} for one in email.cc],
        "bcc": [{"email": one.addr_spec} for one in email.bcc],
        "headers": email.headers,
        # Returned in events.
        "token_to": email.message_id,
    }
    body = {
        "from": mailbox(email.sender),
        "reply_to": next((one.addr_spec for one in email.reply_to), None),
        "subject": email.subject,
        "content": [{"type": "html", "value": email.as_html}],
        "attachments": [{"name": one.name, "content": one.base64} for one in email.attachments],
        "personalizations": [drop_empty(person)],
        "settings": drop_empty({"ip_pool": account.ip_pool_name}),
    }
    return ProviderRequest.json(f"{account.host}/v5.1/mail/send", drop_empty(body))


RECEIPTS = EventReader(
    kinds=kinds_of(
        # "sent" means that the recipient's server accepted the e-mail.
        delivered=("sent",),
        bounced=("bounced", "invalid"),
        failed=("dropped",),
        complained=("abuse", "spam"),
        unsubscribed=("unsubscribed",),
        opened=("opened",),
        clicked=("clicked",),
    ),
    kind="EVENT",
    id="TRANSID",
    own_id="X-APIHEADER",
    recipient="EMAIL",
    at="TIMESTAMP",
    reason="RESPONSE",
    is_hard=lambda _: True,
)

PROVIDER = EmailProvider(
    id="netcore",
    name="Netcore",
    credentials=NetcoreCredentials,
    auth=lambda account: key_header("api_key", account.api_key),
    request=request,
    sent=json_id("data.message_id"),
    accepts=all_equal("status", "success"),
    failures=(
        error_text(r"invalid[^\"]*\brecipient|personalizations[^\"]*\bto\b", FailureKind.RECIPIENT_INVALID, status=400),
    ),
    receipts=Receipts(parse=RECEIPTS),
    casing=snake,
    without=frozenset({"text"}),
    documentation="https://emaildocs.netcorecloud.com/reference/send-mail-api-1",
    note="Takes HTML alone, without a text beside it, and knows no pictures inside of it: they arrive as attachments. "
    "`region` is `eu` for accounts of the European Union. Its documentation shows no bodies of refusals: a 400 that "
    "speaks of an invalid recipient, or of `to`, is taken for one, and any other refusal goes to the next integration.",
)
