"""Eazy (Spotler Message): channels and recipients have addresses like e-mail."""

from clarion.providers.definition.credentials import SmsCredentials
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.request import ProviderRequest, bearer, path_part
from clarion.providers.definition.result import FailureKind, codes, error_text, json_id
from clarion.providers.sms.message import Sms
from clarion.secret import Secret


class EazySmsCredentials(SmsCredentials):
    api_key: Secret
    channel_id: str


def request(account: EazySmsCredentials, sms: Sms) -> ProviderRequest:
    channel = path_part(account.channel_id, safe="@")
    url = f"https://api.eazy.im/v3/channels/{channel}/messages/{sms.to_digits}@sms.eazy.im"
    return ProviderRequest.json(url, {"message": {"type": "text", "body": sms.body}})


PROVIDER = SmsProvider(
    id="eazy-sms",
    name="Eazy",
    credentials=EazySmsCredentials,
    auth=lambda account: bearer(account.api_key),
    request=request,
    sent=json_id("id"),
    failures=(
        codes("error.code", retryable=(1003, 1004)),
        error_text(r"jid is invalid", FailureKind.RECIPIENT_INVALID, status=400),
    ),
    without=frozenset({"from"}),
    documentation="https://api.eazy.im/v3",
    note="`channelId` is the whole address of the channel, such as `31633333333@sms.eazy.im`. "
    "How it reports is not published, so receipts are not read.",
)
