"""Amazon SNS: SMS to single numbers, with signed forms and answers in XML."""

from collections.abc import Mapping
from typing import Annotated

from clarion.providers.definition.credentials import OptionalSenderCredentials
from clarion.providers.definition.overrides import pascal
from clarion.providers.definition.provider import SmsProvider
from clarion.providers.definition.request import ProviderRequest, drop_empty
from clarion.providers.definition.result import FailureKind, error_text, text_codes, text_id
from clarion.providers.signing.amazon import REFUSED_ACCOUNT_CODES, REGION, aws_address, make_aws_signer
from clarion.providers.sms.message import Sms
from clarion.secret import Secret


class SnsCredentials(OptionalSenderCredentials):
    api_key: str
    secret_key: Secret
    region: Annotated[str, REGION]
    token: Secret | None = None
    """The session token of temporary keys."""

    def call(self, action: str, fields: Mapping[str, str]) -> ProviderRequest:
        return ProviderRequest.form(
            f"{aws_address('sns', self.region)}/", {"Action": action, "Version": "2010-03-31", **fields}
        )


def request(account: SnsCredentials, sms: Sms) -> ProviderRequest:
    sender = "AWS.MM.SMS.OriginationNumber" if sms.sender_digits.isdigit() else "AWS.SNS.SMS.SenderID"
    attributes = drop_empty({"AWS.SNS.SMS.SMSType": "Transactional", sender: sms.sender})
    fields = {"PhoneNumber": sms.to, "Message": sms.body}
    for number, (name, value) in enumerate(attributes.items(), start=1):
        entry = f"MessageAttributes.entry.{number}"
        fields |= {f"{entry}.Name": name, f"{entry}.Value.DataType": "String", f"{entry}.Value.StringValue": value}
    return account.call("Publish", fields)


PROVIDER = SmsProvider(
    id="sns",
    name="Amazon SNS",
    credentials=SnsCredentials,
    request=request,
    sign=make_aws_signer("sns"),
    sent=text_id(r"<MessageId>([^<]+)</MessageId>"),
    failures=(
        text_codes(
            r"<Code>(\w+)</Code>",
            rate_limited=("Throttling", "Throttled", "ThrottlingException"),
            recipient_invalid=("OptedOut",),
            account_refused=REFUSED_ACCOUNT_CODES,
        ),
        error_text(r"Invalid parameter: PhoneNumber", FailureKind.RECIPIENT_INVALID, status=400),
    ),
    check=lambda account: account.call("GetSMSAttributes", {}),
    casing=pascal,
    documentation="https://docs.aws.amazon.com/sns/latest/api/API_Publish.html",
    note="Messages to numbers that opted out are taken all the same; what became of them is in CloudWatch alone. "
    "`check` needs the permission `sns:GetSMSAttributes`.",
)
