"""Mobishastra: a list of messages, each with the login; errors are returned with a 200."""

from clarion.providers.definition.credentials import SenderCredentials
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.request import ProviderRequest
from clarion.providers.definition.result import (
    ACCOUNT_REFUSED,
    ProviderAnswer,
    error_text,
    json_id,
    text_codes,
    text_matches,
)
from clarion.providers.sms.message import Sms
from clarion.secret import Secret


class MobishastraCredentials(SenderCredentials):
    base_url: str
    """The full URL, such as https://mshastra.com/sendsms_api_json.aspx."""
    user: str
    password: Secret


def request(account: MobishastraCredentials, sms: Sms) -> ProviderRequest:
    message = {
        "user": account.user,
        "pwd": account.password.reveal(),
        "number": sms.to_digits,
        "msg": sms.body,
        "sender": sms.sender_digits,
        "language": "Unicode" if sms.is_unicode else "English",
    }
    return ProviderRequest.json(account.base_url, [message])


def accepts(answer: ProviderAnswer) -> bool:
    """An error has a text and no id; an answer with neither is handled as one without an id."""
    has_id = any(str(one).strip() for one in answer.values("*.msg_id"))
    return has_id or not answer.values("*.str_response")


def balance_request(account: MobishastraCredentials) -> ProviderRequest:
    folder = account.base_url.rpartition("/")[0]
    return ProviderRequest.get(f"{folder}/balance.aspx", {"user": account.user, "pwd": account.password.reveal()})


PROVIDER = SmsProvider(
    id="mobishastra",
    name="Mobishastra",
    credentials=MobishastraCredentials,
    request=request,
    sent=json_id("0.msg_id"),
    accepts=accepts,
    failures=(
        text_codes(
            r'"str_response"\s*:\s*"\s*(\d{3})\b', recipient_invalid=("001", "006", "007", "008"), retryable=("013",)
        ),
        error_text(r"invalid (password|user|profile)", ACCOUNT_REFUSED, status=200),
    ),
    # The balance is a number, or one per country such as "Tanzania (+255) = 3452".
    check=balance_request,
    check_passes=text_matches(r"^\s*\d[\d.]*\s*$|=\s*\d"),
    casing=None,
    takes_body=False,
    documentation="https://mshastra.com",
    note="`baseUrl` is the whole address, usually `https://mshastra.com/sendsms_api_json.aspx`.",
)
