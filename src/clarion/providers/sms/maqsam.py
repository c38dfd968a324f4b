"""Maqsam: SMS of a phone system with few documented answers."""

from clarion.providers.definition.credentials import SenderCredentials
from clarion.providers.definition.overrides import as_given
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.request import ProviderRequest, basic
from clarion.providers.definition.result import json_id
from clarion.providers.sms.message import Sms
from clarion.secret import Secret


class MaqsamCredentials(SenderCredentials):
    api_key: str
    secret_key: Secret


def request(account: MaqsamCredentials, sms: Sms) -> ProviderRequest:
    body = {"to": sms.to, "message": sms.body, "sender": sms.sender}
    return ProviderRequest.json("https://api.maqsam.com/v2/sms", body, auth=basic(account.api_key, account.secret_key))


PROVIDER = SmsProvider(
    id="maqsam",
    name="Maqsam",
    credentials=MaqsamCredentials,
    request=request,
    sent=json_id("message.identifier"),
    # An object means success; a text in its place is the error.
    accepts=lambda answer: not isinstance(answer.value("message"), str),
    casing=as_given,
    documentation="https://maqsam.com",
    note="Which refusals mean a wrong number is not published, so that none is taken for one.",
)
