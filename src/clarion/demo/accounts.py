"""The accounts of Larkspur Cycles at providers, the address of its own webhook, and the addresses it writes to no more.

All of them are made up. `OUTBOXES` are the built-in providers that take over at the end of the week.
"""

from typing import Any

Account = dict[str, Any]
"""An integration in the words of the API."""

POSTMARK: Account = {
    "providerId": "postmark",
    "channel": "email",
    "name": "Postmark",
    "identifier": "postmark",
    "active": True,
    "credentials": {
        "apiKey": "demo-server-token",
        "from": "hello@larkspur.example.com",
        "senderName": "Larkspur Cycles",
    },
}
SENDGRID: Account = {
    "providerId": "sendgrid",
    "channel": "email",
    "name": "SendGrid backup",
    "identifier": "sendgrid-backup",
    "active": True,
    "credentials": {"apiKey": "SG.demo-revoked", "from": "hello@larkspur.example.com", "senderName": "Larkspur Cycles"},
}
TWILIO_TOKEN = "demo-auth-token"  # noqa: S105 - of an account that does not exist
TWILIO: Account = {
    "providerId": "twilio",
    "channel": "sms",
    "name": "Twilio",
    "identifier": "twilio",
    "active": True,
    "credentials": {"accountSid": "AC00000000000000000000000000000000", "token": TWILIO_TOKEN, "from": "+12025550100"},
}
ONE_SIGNAL: Account = {
    "providerId": "one-signal",
    "channel": "push",
    "name": "OneSignal",
    "identifier": "onesignal",
    "active": True,
    "credentials": {
        "applicationId": "00000000-0000-4000-8000-00000000d330",
        "apiKey": "os_demo",
        "apiVersion": "playerModel",
    },
}
SLACK: Account = {
    "providerId": "slack",
    "channel": "chat",
    "name": "Slack of the team",
    "identifier": "slack",
    "active": True,
    "credentials": {"applicationId": "A0LARKSPUR", "clientId": "1.2", "secretKey": "demo"},
}
VENDORS = [POSTMARK, SENDGRID, TWILIO, ONE_SIGNAL, SLACK]

OUTBOXES: list[Account] = [
    {
        "providerId": "svc-email",
        "channel": "email",
        "name": "Email outbox",
        "identifier": "outbox-email",
        "active": True,
    },
    {"providerId": "svc-sms", "channel": "sms", "name": "SMS outbox", "identifier": "outbox-sms", "active": True},
]
SWITCHED_OFF = "{name} (demo, switched off)"
"""The name of a vendor's account at the end of the week."""

WEBHOOK_HOST = "hooks.larkspur.example.com"
WEBHOOK = {
    "url": f"https://{WEBHOOK_HOST}/clarion",
    "description": "Order history of the shop",
    "eventTypes": ["message.bounced", "message.failed", "message.delivered"],
}

SUPPRESSED = [
    {"channel": "email", "address": "petr@example.com", "detail": "Asked on the phone to get no mails"},
    {"channel": "sms", "address": "+33639980155", "detail": "Wrote STOP to the shop"},
]
BOUNCING = frozenset({"kaho@example.com", "beatriz@example.com"})
"""Mailboxes that do not exist any more."""
INACTIVE = "mateo@example.com"
"""An address that Postmark refuses, because it complained before."""
UNREACHABLE_NUMBERS = frozenset({"+12025550174"})
"""Numbers that are none, by Twilio."""
LANDLINE = "+61491570156"
"""A number that takes the message and does not get it."""
