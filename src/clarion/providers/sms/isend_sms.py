"""iSend (Libya), which may return errors with a 200."""

import re
from typing import Annotated

from clarion.providers.definition.credentials import FormatRule, OptionalSenderCredentials
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.request import ProviderRequest, bearer, drop_empty
from clarion.providers.definition.result import Classification, FailureKind, ProviderAnswer, all_equal, json_id
from clarion.providers.sms.message import Sms
from clarion.secret import Secret

_NUMBER_IS_WRONG = re.compile(r"invalid.*number|number.*invalid", re.IGNORECASE)


CONTENT_TYPE = FormatRule(lambda text: text in ("unicode", "plain"), "must be 'unicode' or 'plain'")


class IsendCredentials(OptionalSenderCredentials):
    api_token: Secret
    base_url: str = "https://isend.com.ly/api/v3"
    content_type: Annotated[str, CONTENT_TYPE] = ""
    """`unicode` or `plain` for all messages; by default each is sent as its characters require."""

    def url(self, resource: str) -> str:
        return f"{self.base_url.rstrip('/')}/{resource}"


def request(account: IsendCredentials, sms: Sms) -> ProviderRequest:
    body = {
        "recipient": sms.to_digits,
        "sender_id": sms.sender_digits,
        "type": account.content_type or ("unicode" if sms.is_unicode else "plain"),
        "message": sms.body,
    }
    accept = {"Accept": "application/json"}
    return ProviderRequest.json(account.url("sms/send"), drop_empty(body), headers=accept)


def classify_wrong_number(answer: ProviderAnswer) -> Classification | None:
    """Check the text of errors only, because a success contains the text of the message."""
    is_error = answer.value("status") == "error"
    is_wrong_number = is_error and _NUMBER_IS_WRONG.search(str(answer.value("message")))
    return FailureKind.RECIPIENT_INVALID if is_wrong_number else None


PROVIDER = SmsProvider(
    id="isend-sms",
    name="iSend SMS",
    credentials=IsendCredentials,
    auth=lambda account: bearer(account.api_token),
    request=request,
    sent=json_id("data.uid"),
    accepts=all_equal("status", "success"),
    failures=(classify_wrong_number,),
    check=lambda account: ProviderRequest.get(account.url("balance")),
    check_passes=all_equal("status", "success"),
    casing=snake,
    documentation="https://packagist.org/packages/isend/laravel",
    note="Accounts of the older address set `baseUrl` to `https://send.com.ly/api/v3`.",
)
