"""Providers that are known and cannot be sent through yet: names, and the credentials that they cannot do without."""

import types
from typing import Annotated, Any

from msgspec import field

from clarion.providers.account import Credentials
from clarion.providers.base import Provider, Rule
from clarion.providers.credentials import EMAIL_ADDRESS, URL_OR_HOST
from clarion.vocabulary import Channel


def _provider(
    provider_id: str, name: str, channel: Channel, required: tuple[str, ...], rules: dict[str, Rule]
) -> Provider:
    fields: dict[str, Any] = {
        ("sender" if one == "from" else one): Annotated[str, rules[one]] if one in rules else str for one in required
    }
    namespace: dict[str, Any] = {"__annotations__": fields, "__module__": __name__}
    if "sender" in fields:
        namespace["sender"] = field(name="from")
    made = types.new_class("PendingCredentials", (Credentials,), exec_body=lambda body: body.update(namespace))
    return Provider(id=provider_id, name=name, channel=channel, credentials=made)


def _email(provider_id: str, name: str, *required: str, **rules: Rule) -> Provider:
    return _provider(provider_id, name, Channel.EMAIL, (*required, "from"), {**rules, "from": EMAIL_ADDRESS})


def _sms(provider_id: str, name: str, *required: str, **rules: Rule) -> Provider:
    return _provider(provider_id, name, Channel.SMS, required, rules)


def _push(provider_id: str, name: str, *required: str) -> Provider:
    return _provider(provider_id, name, Channel.PUSH, required, {})


def _chat(provider_id: str, name: str, *required: str) -> Provider:
    return _provider(provider_id, name, Channel.CHAT, required, {})


EMAIL = (
    _email("braze", "Braze", "apiKey", "baseUrl", "applicationId"),
    _email("email-webhook", "Email Webhook", "webhookUrl", "secretKey"),
    _email("infobip-email", "Infobip", "apiKey", "baseUrl", baseUrl=URL_OR_HOST),
    _email("mailersend", "MailerSend", "apiKey"),
    _email("mailjet", "Mailjet", "apiKey", "secretKey"),
    _email("mailtrap", "Mailtrap", "apiKey"),
    _email("mandrill", "Mandrill", "apiKey"),
    _email("netcore", "Netcore", "apiKey"),
    _email("outlook365", "Microsoft Outlook 365", "password"),
    _email("plunk", "Plunk", "apiKey"),
    _email("postmark", "Postmark", "apiKey"),
    _email("resend", "Resend", "apiKey"),
    _email("sendinblue", "Brevo", "apiKey"),
    _email("sparkpost", "SparkPost", "apiKey"),
)

SMS = (
    _sms("africas-talking", "Africa's Talking", "apiKey", "user"),
    _sms("afro-message", "AfroMessage", "apiKey", "from", "senderName"),
    _sms("azure-sms", "Azure SMS", "accessKey", "from"),
    _sms("bandwidth", "Bandwidth", "user", "password", "accountSid", "applicationId", "from"),
    _sms("brevo-sms", "Brevo SMS", "apiKey", "from"),
    _sms("bulk-sms", "BulkSMS", "apiToken"),
    _sms("burst-sms", "Kudosity (Burst SMS)", "apiKey", "secretKey"),
    _sms("clickatell", "Clickatell", "apiKey"),
    _sms("clicksend", "ClickSend", "user", "apiKey"),
    _sms("eazy-sms", "Eazy", "apiKey", "channelId"),
    _sms("firetext", "FireText", "apiKey", "from"),
    _sms("forty-six-elks", "46elks", "user", "password", "from"),
    _sms("gupshup", "Gupshup", "user", "password"),
    _sms("infobip-sms", "Infobip SMS", "apiKey", "baseUrl", "from", baseUrl=URL_OR_HOST),
    _sms("isend-sms", "iSend SMS", "apiToken"),
    _sms("maqsam", "Maqsam", "apiKey", "secretKey", "from"),
    _sms("messagebird", "MessageBird", "accessKey", "from"),
    _sms("mobishastra", "Mobishastra", "baseUrl", "user", "password", "from"),
    _sms("plivo", "Plivo", "accountSid", "token", "from"),
    _sms("ring-central", "RingCentral", "clientId", "secretKey", "token", "from"),
    _sms("sendchamp", "Sendchamp", "apiKey", "from"),
    _sms("simpletexting", "SimpleTexting", "apiKey"),
    _sms("sms-central", "SMS Central", "user", "password", "from"),
    _sms("sms77", "seven", "apiKey", "from"),
    _sms("sns", "Amazon SNS", "apiKey", "secretKey", "region"),
    _sms("telnyx", "Telnyx", "apiKey", "messageProfileId", "from"),
    _sms("termii", "Termii", "apiKey", "from"),
)

PUSH = (
    _push("apns", "Apple Push Notification service", "secretKey", "apiKey", "projectName", "applicationId"),
    _push("expo", "Expo Push", "apiKey"),
    _push("one-signal", "OneSignal", "applicationId", "apiKey"),
    _push("push-webhook", "Push Webhook", "webhookUrl", "secretKey"),
    _push("pusher-beams", "Pusher Beams", "instanceId", "secretKey"),
    _push("pushpad", "Pushpad", "apiKey", "applicationId"),
)

CHAT = (
    _chat("chat-webhook", "Chat Webhook"),
    _chat("getstream", "Stream Chat", "apiKey"),
    _chat("grafana-on-call", "Grafana OnCall"),
    _chat("mattermost", "Mattermost"),
    _chat("msteams", "Microsoft Teams"),
    _chat("rocket-chat", "Rocket.Chat", "token", "user"),
    _chat("ryver", "Ryver"),
    _chat("whatsapp-business", "WhatsApp Business", "apiToken", "phoneNumberIdentification"),
    _chat("zulip", "Zulip"),
)

PENDING = (*EMAIL, *SMS, *PUSH, *CHAT)
