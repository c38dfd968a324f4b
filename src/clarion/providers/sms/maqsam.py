"""Maqsam: SMS of a phone system with few documented answers."""

from clarion.providers.definition.credentials import SenderCredentials
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.request import ProviderRequest, basic
from clarion.providers.definition.result import json_id
from clarion.providers.sms.message import Sms
from clarion.secret import Secret


class MaqsamCredentials(SenderCredentials):
    api_key: str
    secret_key: Secret


def request(_: MaqsamCredentials, sms: Sms) -> ProviderRequest:
    body = {"to": sms.to, "message": sms.body, "sender": sms.sender}
    return ProviderRequest.json("https://api.maqsam.com/v2/sms", body)


PROVIDER = SmsProvider(
    id="maqsam",
    name="Maqsam",
    credentials=MaqsamCredentials,
    auth=lambda account: basic(account.api_key, account.secret_key),
    request=request,
    sent=json_id("message.identifier"),
    # An object means success; a text in its place is the error.
    accepts=lambda answer: not isinstance(answer.value("message"), str),
    documentation="https://maqsam.com",
    note="Which refusals mean a wrong number is not published, so that none is taken for one.",
)
