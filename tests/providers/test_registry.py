"""The registry against the provider values of the contract."""

from clarion.integrations.wire import Credentials
from clarion.providers.registry import PROVIDERS, find_provider
from clarion.vocabulary import Channel, ChannelProvider

# The "Job/execution provider values" of the API, by channel.
IN_APP = {"svc"}
EMAIL = {
    *("emailjs", "mailgun", "mailjet", "mandrill", "nodemailer", "postmark", "sendgrid", "sendinblue", "ses"),
    *("netcore", "infobip-email", "resend", "plunk", "mailersend", "mailtrap", "outlook365", "svc-email"),
    *("sparkpost", "email-webhook", "braze"),
}
SMS = {
    *("clickatell", "nexmo", "plivo", "sms77", "sms-central", "sns", "telnyx", "twilio", "gupshup", "firetext"),
    *("infobip-sms", "burst-sms", "bulk-sms", "isend-sms", "forty-six-elks", "kannel", "maqsam", "termii"),
    *("africas-talking", "svc-sms", "sendchamp", "generic-sms", "clicksend", "bandwidth", "messagebird"),
    *("simpletexting", "azure-sms", "ring-central", "brevo-sms", "eazy-sms", "mobishastra", "afro-message"),
}
PUSH = {"fcm", "apns", "expo", "one-signal", "pushpad", "push-webhook", "pusher-beams"}
CHAT = {
    *("slack", "discord", "msteams", "mattermost", "ryver", "zulip", "grafana-on-call", "getstream", "rocket-chat"),
    *("whatsapp-business", "chat-webhook"),
}


def ids_of(channel: Channel) -> set[str]:
    return {provider_id for provider_id, provider in PROVIDERS.items() if provider.channel is channel}


def test_the_registry_has_exactly_the_providers_of_the_contract() -> None:
    assert ids_of(Channel.IN_APP) == IN_APP
    assert ids_of(Channel.EMAIL) == EMAIL
    assert ids_of(Channel.SMS) == SMS
    assert ids_of(Channel.PUSH) == PUSH
    assert ids_of(Channel.CHAT) == CHAT
    assert len(PROVIDERS) == 71


def test_every_provider_that_a_subscriber_can_have_credentials_for_is_of_chat_or_push() -> None:
    assert {str(one) for one in ChannelProvider} == (PUSH | CHAT) - {"chat-webhook"}


def test_every_required_credential_has_a_name_that_the_api_takes() -> None:
    known = set(Credentials.__struct_encode_fields__)

    assert {name for provider in PROVIDERS.values() for name in provider.required} <= known
    assert {name for provider in PROVIDERS.values() for name in provider.rules} <= known


def test_no_two_providers_of_a_channel_have_the_same_name() -> None:
    assert len({(one.channel, one.name) for one in PROVIDERS.values()}) == len(PROVIDERS)


def test_built_in_providers_need_no_credentials() -> None:
    assert [PROVIDERS[name].required for name in ("svc", "svc-email", "svc-sms")] == [(), (), ()]


def test_an_unknown_provider_is_not_found() -> None:
    assert find_provider("carrier-pigeon") is None
