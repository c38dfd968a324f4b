"""Larkspur Cycles: what it sells and talks about, its accounts at providers, and the addresses that it must not use.

All of them are made up. `OUTBOXES` are the built-in providers that take over at the end of the week.
"""

from typing import Any

from clarion.clock import DAY, HOUR, MINUTE

ITEMS: list[tuple[str, int]] = [
    ("Larkspur City, 7 gears", 649),
    ("Larkspur Gravel, size M", 1890),
    ("Folding bike Kestrel", 1240),
    ("Rain cape", 59),
    ("Chain oil", 9),
    ("Front light, 80 lux", 45),
    ("Saddle bag", 32),
    ("Inner tube 28″", 7),
    ("Bell, brass", 18),
    ("Child seat", 139),
]
PARTS = ["brake pads BP-4", "chain 11-speed", "inner tube 28″"]
BIKES = ["City 7", "Gravel M", "Kestrel", "cargo bike"]

NEWSLETTER: dict[str, Any] = {
    "issue": 15,
    "headline": "The rain is back, and so are we",
    "headlineGerman": "Der Regen ist zurück, und wir auch",
    "intro": "The news of the workshop, as short as always.",
    "stories": [
        "New: a cape that fits over a backpack",
        "Grace explains how to listen to a bottom bracket",
        "Sunday ride along the river, for club members and friends",
    ],
}

THREADS: list[tuple[str, str, list[str], int]] = [
    ("winter-tyres", "Which tyres for winter?", ["jonas", "ingrid", "aino", "mikkel", "emma"], 6 * DAY),
    ("berlin-ride", "Sunday ride in Berlin", ["katharina", "jonas", "zofia", "tobias", "petr"], 4 * DAY + 6 * HOUR),
    ("creaking", "My crank creaks", ["thomas", "aoi", "ethan", "grace", "amara"], 2 * DAY + 9 * HOUR),
    ("commute", "Show your commute", ["youssef", "daniel", "elif", "noor", "xiaoyu", "ada"], DAY + HOUR),
    ("kestrel", "Kestrel on the train", ["julien", "camille", "ada", "giulia", "thiago"], 38 * MINUTE),
]
"""Key, title, who follows it, and how long ago it began."""

COMMENTS: dict[str, list[tuple[str, str]]] = {
    "winter-tyres": [
        ("ingrid", "Studs from November to March, no discussion."),
        ("jonas", "In Hamburg? It only rains here."),
        ("aino", "Then at least something wider than 32 mm."),
        ("mikkel", "Wide and soft. Aarhus agrees."),
    ],
    "berlin-ride": [
        ("katharina", "Meet at ten at the shop?"),
        ("zofia", "I bring coffee."),
        ("tobias", "The shop opens at nine, come earlier for air."),
        ("petr", "Train arrives at 9:40, wait for me!"),
    ],
    "creaking": [
        ("thomas", "Only when it is wet. Any idea?"),
        ("grace", "Take the pedals off, grease the threads, and tell us."),
        ("thomas", "It was the pedals. Thank you!"),
    ],
    "commute": [
        ("youssef", "على طول النيل كل صباح، قبل الزحام."),
        ("daniel", "למטה מהכרמל בבוקר, למעלה בערב. מישהו רוצה להתחלף?"),
        ("elif", "Ferry, then eight kilometres along the shore."),
        ("xiaoyu", "外滩，早上六点最美。"),
    ],
    "kestrel": [
        ("julien", "Does it fit under the seat of the TER?"),
        ("camille", "Behind the seat. Folded in eleven seconds, I measured."),
        ("giulia", "Nine, but I had to catch the train."),
    ],
}

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
