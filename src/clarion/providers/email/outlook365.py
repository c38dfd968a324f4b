"""Microsoft Outlook 365: SMTP submission with the sender's mailbox."""

from clarion.providers.definition.credentials import EmailCredentials
from clarion.providers.definition.provider import SmtpProvider
from clarion.providers.email.smtp_account import SmtpAccount
from clarion.secret import Secret


class Outlook365Credentials(EmailCredentials):
    password: Secret


def account(given: Outlook365Credentials) -> SmtpAccount:
    return SmtpAccount(
        host="smtp.office365.com", port=587, user=given.sender, password=given.password.reveal(), start_tls=True
    )


PROVIDER = SmtpProvider(
    id="outlook365",
    name="Microsoft Outlook 365",
    credentials=Outlook365Credentials,
    account=account,
    documentation="https://learn.microsoft.com/en-us/exchange/mail-flow-best-practices/"
    "how-to-set-up-a-multifunction-device-or-application-to-send-email-using-microsoft-365-or-office-365",
    note="`from` is the mailbox that logs in, and its administrator must allow authenticated SMTP. Microsoft is "
    "retiring passwords there: where it has done so, every e-mail is refused with 550 5.7.30.",
)
