"""The workflows of Larkspur Cycles, in the words of the API."""

from typing import Any

from clarion.demo import mails
from clarion.demo.texts import LAYOUT

Workflow = dict[str, Any]
Step = dict[str, Any]

_SITE = "https://larkspur.example.com"


def _step(kind: str, title: str, step_id: str, **values: Any) -> Step:
    """A step; `filters` and `variants` belong to the step, everything else to its controls."""
    of_step: dict[str, Any] = {one: values.pop(one) for one in ("filters", "variants") if one in values}
    return {"type": kind, "name": title, "stepId": step_id, **of_step, "controlValues": values}


def _in_app(step_id: str, subject: str, body: str, *, label: str, url: str, **more: Any) -> Step:
    action = {"label": label, "redirect": {"url": url, "target": "_self"}}
    return _step("in_app", "Inbox", step_id, subject=subject, body=body, primaryAction=action, **more)


def _email(step_id: str, name: str, subject: str, body: str, **more: Any) -> Step:
    return _step("email", name, step_id, subject=subject, body=body, editorType="html", **more)


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


_TEXT = {"type": "string", "minLength": 1}
_NUMBER = {"type": "number", "minimum": 0}
_CRITICAL = {"workflow": {"all": {"enabled": True, "readOnly": True}, "channels": {}}}
"""People cannot switch it off."""

WELCOME: Workflow = {
    "workflowId": "welcome",
    "name": "Welcome",
    "description": "Greets a new customer, and sends tips two days later unless they have a bike in their account.",
    "tags": ["onboarding"],
    "severity": "none",
    "isTranslationEnabled": True,
    "steps": [
        _in_app(
            "inbox",
            "Welcome, {{subscriber.firstName | default: 'friend'}}!",
            "Add your bike, and we remind you before it needs care.",
            label="Add your bike",
            url=f"{_SITE}/bikes/new",
        ),
        _email("mail", "Welcome mail", "{{t.mail.subject}}", mails.WELCOME, layoutId=LAYOUT),
        _step("delay", "Two days", "two-days", type="regular", amount=2, unit="days"),
        _email(
            "tips",
            "Tips",
            "Three things that keep a bike happy",
            mails.TIPS,
            skip={"!=": [{"var": "payload.hasBike"}, True]},
        ),
    ],
}

ORDER_CONFIRMED: Workflow = {
    "workflowId": "order-confirmed",
    "name": "Order confirmed",
    "description": "The receipt of an order, and a text message for large ones.",
    "tags": ["orders"],
    "severity": "low",
    "validatePayload": True,
    "payloadSchema": _object(
        orderNumber=_TEXT,
        total=_NUMBER,
        items={"type": "array", "minItems": 1, "items": _object(name=_TEXT, quantity=_NUMBER, price=_NUMBER)},
    ),
    "steps": [
        _in_app(
            "inbox",
            "Order {{payload.orderNumber}} confirmed",
            "{{payload.items | size}} item{% if payload.items.size != 1 %}s{% endif %}, {{payload.total}} € in all.",
            label="See your order",
            url=f"{_SITE}/orders/{{{{payload.orderNumber}}}}",
        ),
        _email("receipt", "Receipt", "Your order {{payload.orderNumber}}", mails.ORDER),
        _step(
            "sms",
            "Text for large orders",
            "text",
            body="Larkspur Cycles: order {{payload.orderNumber}} over {{payload.total}} EUR is confirmed.",
            filters=[
                {
                    "isNegated": False,
                    "type": "GROUP",
                    "value": "AND",
                    "children": [{"field": "total", "value": "500", "operator": "LARGER", "on": "payload"}],
                }
            ],
        ),
    ],
}

_CARRIER_URL = "https://track.example.com/{{payload.carrier}}/{{payload.tracking}}"
ORDER_SHIPPED: Workflow = {
    "workflowId": "order-shipped",
    "name": "Order shipped",
    "description": "Says where the parcel is: in the app and on the phone, and by mail to those who have not seen it.",
    "tags": ["orders", "delivery"],
    "severity": "low",
    "steps": [
        _step("custom", "Carrier", "carrier", name="{{payload.carrier | upcase}}", trackingUrl=_CARRIER_URL),
        _in_app(
            "inbox",
            "Order {{payload.orderNumber}} is on its way",
            "{{steps.carrier.name}} brings it {{payload.eta}}.",
            label="Follow the parcel",
            url="{{steps.carrier.trackingUrl}}",
        ),
        _step("push", "Push", "push", subject="On its way", body="{{payload.orderNumber}} arrives {{payload.eta}}."),
        _step(
            "sms",
            "Text for express",
            "express-text",
            body="Larkspur Cycles: {{payload.orderNumber}} arrives {{payload.eta}}. {{steps.carrier.trackingUrl}}",
            skip={"==": [{"var": "payload.express"}, True]},
        ),
        _step("delay", "Three hours", "three-hours", type="regular", amount=3, unit="hours"),
        _email(
            "mail",
            "Mail if unread",
            "Order {{payload.orderNumber}} is on its way",
            mails.SHIPPED,
            skip={"!=": [{"var": "steps.inbox.read"}, True]},
        ),
    ],
}

PAYMENT_FAILED: Workflow = {
    "workflowId": "payment-failed",
    "name": "Payment failed",
    "description": "Critical: people cannot switch it off.",
    "tags": ["billing"],
    "severity": "high",
    "preferences": _CRITICAL,
    "payloadSchema": _object(invoice=_TEXT, amount=_NUMBER, reason=_TEXT, keptUntil=_TEXT),
    "validatePayload": True,
    "steps": [
        _in_app(
            "inbox",
            "Payment of {{payload.amount}} € failed",
            "Your bank refused the payment for {{payload.reason}}.",
            label="Try again",
            url=f"{_SITE}/pay/{{{{payload.invoice}}}}",
        ),
        _email("mail", "Mail", "Your payment did not go through", mails.PAYMENT),
        _step("sms", "Text", "text", body="Larkspur Cycles: your payment of {{payload.amount}} EUR was refused."),
    ],
}

SIGN_IN_CODE: Workflow = {
    "workflowId": "sign-in-code",
    "name": "Sign-in code",
    "description": "The second factor, by text message.",
    "tags": ["security"],
    "severity": "none",
    "preferences": _CRITICAL,
    "steps": [_step("sms", "Code", "code", body="{{payload.code}} is your code for Larkspur Cycles.")],
}

NEW_COMMENT: Workflow = {
    "workflowId": "new-comment",
    "name": "New comment",
    "description": "Comments appear in the app at once, and in one mail per thread and hour.",
    "tags": ["community"],
    "severity": "none",
    "steps": [
        _in_app(
            "inbox",
            "{{payload.author}} in “{{payload.threadTitle}}”",
            "{{payload.text}}",
            label="Answer",
            url=f"{_SITE}/community/{{{{payload.thread}}}}",
        ),
        _step("digest", "An hour", "hour", type="regular", amount=1, unit="hours", digestKey="{{payload.thread}}"),
        _email("mail", "Digest", "{{step.total_count}} new in “{{payload.threadTitle}}”", mails.COMMENTS),
    ],
}

STOCK_ALERT: Workflow = {
    "workflowId": "stock-alert",
    "name": "Stock alert",
    "description": "For the workshop team, at most once in four hours for each part.",
    "tags": ["internal", "workshop"],
    "severity": "medium",
    "steps": [
        _step(
            "throttle",
            "Once in four hours",
            "once",
            type="fixed",
            amount=4,
            unit="hours",
            threshold=1,
            throttleKey="{{payload.part}}",
        ),
        _step("chat", "Slack", "chat", body=":wrench: Only *{{payload.left}}* left of *{{payload.part}}*."),
        _step("push", "Push", "push", subject="Low stock", body="{{payload.part}}: {{payload.left}} left"),
    ],
}

SERVICE_REMINDER: Workflow = {
    "workflowId": "service-reminder",
    "name": "Service reminder",
    "description": "Waits until a day before the appointment; canceled with the booking.",
    "tags": ["workshop"],
    "severity": "low",
    "steps": [
        _step("delay", "Until the day before", "day-before", type="scheduled", delayPath="payload.remindAt"),
        _in_app(
            "inbox",
            "Appointment at {{payload.shop}}",
            "Your {{payload.bike}} is due {{payload.appointment | date: '%d %B, %H:%M'}}.",
            label="See the booking",
            url=f"{_SITE}/service/{{{{payload.booking}}}}",
        ),
        _email("mail", "Mail", "Your appointment at {{payload.shop}}", mails.SERVICE),
        _step("sms", "Text", "text", body="Larkspur Cycles {{payload.shop}}: see you tomorrow with your bike."),
    ],
}

NEWSLETTER: Workflow = {
    "workflowId": "newsletter",
    "name": "Newsletter",
    "description": "Once a week, for those who subscribed to the topic.",
    "tags": ["marketing"],
    "severity": "none",
    "steps": [
        _email(
            "mail",
            "Newsletter",
            "{{payload.headline}}",
            mails.NEWSLETTER,
            variants=[
                {
                    "name": "German",
                    "filters": [
                        {
                            "isNegated": False,
                            "type": "GROUP",
                            "value": "AND",
                            "children": [{"field": "locale", "value": "de", "operator": "LIKE", "on": "subscriber"}],
                        }
                    ],
                    "controlValues": {"subject": "{{payload.headlineGerman}}", "body": mails.NEWSLETTER_GERMAN},
                }
            ],
        ),
    ],
}

SPRING_SALE: Workflow = {
    "workflowId": "spring-sale",
    "name": "Spring sale",
    "description": "A draft: the mail has no text yet.",
    "tags": ["marketing"],
    "severity": "none",
    "active": False,
    "steps": [
        _in_app("inbox", "Spring sale", "Everything for wet roads, 20 % off.", label="Look", url=f"{_SITE}/sale"),
        _step("email", "Announcement", "mail", subject="Spring is coming"),
    ],
}

WORKFLOWS = [
    WELCOME,
    ORDER_CONFIRMED,
    ORDER_SHIPPED,
    PAYMENT_FAILED,
    SIGN_IN_CODE,
    NEW_COMMENT,
    STOCK_ALERT,
    SERVICE_REMINDER,
    NEWSLETTER,
    SPRING_SALE,
]


def first_version_of_shipped() -> Workflow:
    """The order workflow as it was in the first days of the week: without the text for express parcels."""
    steps = [one for one in ORDER_SHIPPED["steps"] if one["stepId"] != "express-text"]
    return ORDER_SHIPPED | {"steps": steps}
