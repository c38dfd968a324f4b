"""The catalogue: every provider by channel, and the credentials that it cannot do without."""

from clarion.providers.base import Provider, Rule
from clarion.providers.credentials import URL, URL_OR_HOST
from clarion.vocabulary import Channel


def _email(provider_id: str, name: str, *required: str, **rules: Rule) -> Provider:
    return Provider(id=provider_id, name=name, channel=Channel.EMAIL, required=(*required, "from"), rules=rules)


def _sms(provider_id: str, name: str, *required: str, **rules: Rule) -> Provider:
    return Provider(id=provider_id, name=name, channel=Channel.SMS, required=required, rules=rules)


def _push(provider_id: str, name: str, *required: str) -> Provider:
    return Provider(id=provider_id, name=name, channel=Channel.PUSH, required=required)


def _chat(provider_id: str, name: str, *required: str) -> Provider:
    return Provider(id=provider_id, name=name, channel=Channel.CHAT, required=required)


BUILT_IN = (
    Provider(id="svc", name="In-App", channel=Channel.IN_APP),
    Provider(id="svc-email", name="Built-in Email", channel=Channel.EMAIL),
    Provider(id="svc-sms", name="Built-in SMS", channel=Channel.SMS),
)

EMAIL = (
    _email("braze", "Braze", "apiKey", "baseUrl", "applicationId"),
    _email("email-webhook", "Email Webhook", "webhookUrl", "secretKey"),
    _email("emailjs", "EmailJS", "host", "port"),
    _email("infobip-email", "Infobip", "apiKey", "baseUrl", baseUrl=URL_OR_HOST),
    _email("mailersend", "MailerSend", "apiKey"),
    _email("mailgun", "Mailgun", "apiKey", "user", "domain"),
    _email("mailjet", "Mailjet", "apiKey", "secretKey"),
    _email("mailtrap", "Mailtrap", "apiKey"),
    _email("mandrill", "Mandrill", "apiKey"),
    _email("netcore", "Netcore", "apiKey"),
    _email("nodemailer", "Custom SMTP", "host", "port"),
    _email("outlook365", "Microsoft Outlook 365", "password"),
    _email("plunk", "Plunk", "apiKey"),
    _email("postmark", "Postmark", "apiKey"),
    _email("resend", "Resend", "apiKey"),
    _email("sendgrid", "SendGrid", "apiKey"),
    _email("sendinblue", "Brevo", "apiKey"),
    _email("ses", "Amazon SES", "apiKey", "secretKey", "region"),
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
    _sms("generic-sms", "Generic SMS", "baseUrl", "apiKeyRequestHeader", "apiKey", "idPath", "from", domain=URL),
    _sms("gupshup", "Gupshup", "user", "password"),
    _sms("infobip-sms", "Infobip SMS", "apiKey", "baseUrl", "from", baseUrl=URL_OR_HOST),
    _sms("isend-sms", "iSend SMS", "apiToken"),
    _sms("kannel", "Kannel", "host", "port", "from"),
    _sms("maqsam", "Maqsam", "apiKey", "secretKey", "from"),
    _sms("messagebird", "MessageBird", "accessKey", "from"),
    _sms("mobishastra", "Mobishastra", "baseUrl", "user", "password", "from"),
    _sms("nexmo", "Vonage", "apiKey", "secretKey", "from"),
    _sms("plivo", "Plivo", "accountSid", "token", "from"),
    _sms("ring-central", "RingCentral", "clientId", "secretKey", "token", "from"),
    _sms("sendchamp", "Sendchamp", "apiKey", "from"),
    _sms("simpletexting", "SimpleTexting", "apiKey"),
    _sms("sms-central", "SMS Central", "user", "password", "from"),
    _sms("sms77", "seven", "apiKey", "from"),
    _sms("sns", "Amazon SNS", "apiKey", "secretKey", "region"),
    _sms("telnyx", "Telnyx", "apiKey", "messageProfileId", "from"),
    _sms("termii", "Termii", "apiKey", "from"),
    _sms("twilio", "Twilio", "accountSid", "token", "from"),
)

PUSH = (
    _push("apns", "Apple Push Notification service", "secretKey", "apiKey", "projectName", "applicationId"),
    _push("expo", "Expo Push", "apiKey"),
    _push("fcm", "Firebase Cloud Messaging", "serviceAccount"),
    _push("one-signal", "OneSignal", "applicationId", "apiKey"),
    _push("push-webhook", "Push Webhook", "webhookUrl", "secretKey"),
    _push("pusher-beams", "Pusher Beams", "instanceId", "secretKey"),
    _push("pushpad", "Pushpad", "apiKey", "applicationId"),
)

CHAT = (
    _chat("chat-webhook", "Chat Webhook"),
    _chat("discord", "Discord"),
    _chat("getstream", "Stream Chat", "apiKey"),
    _chat("grafana-on-call", "Grafana OnCall"),
    _chat("mattermost", "Mattermost"),
    _chat("msteams", "Microsoft Teams"),
    _chat("rocket-chat", "Rocket.Chat", "token", "user"),
    _chat("ryver", "Ryver"),
    _chat("slack", "Slack", "applicationId", "clientId", "secretKey"),
    _chat("whatsapp-business", "WhatsApp Business", "apiToken", "phoneNumberIdentification"),
    _chat("zulip", "Zulip"),
)
