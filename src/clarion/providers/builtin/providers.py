"""The built-in providers: the inbox, and an outbox that stores e-mails and SMS without sending them."""

from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.kinds import BuiltinProvider
from clarion.vocabulary import Channel


class InboxCredentials(Credentials):
    """Settings of the inbox."""

    hmac: bool = False


IN_APP = BuiltinProvider(id="svc", name="In-App", channel=Channel.IN_APP, credentials=InboxCredentials)
EMAIL = BuiltinProvider(id="svc-email", name="Built-in Email", channel=Channel.EMAIL)
SMS = BuiltinProvider(id="svc-sms", name="Built-in SMS", channel=Channel.SMS)
