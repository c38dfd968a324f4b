"""What forms say about the controls of steps, in the order in which forms show them."""

from collections.abc import Mapping

from msgspec import Struct

from clarion.vocabulary import StepType


class ControlText(Struct, frozen=True):
    """The label of a control, and a sentence about it."""

    title: str
    description: str
    example: str | float | None = None
    media_type: str | None = None
    members: Mapping[str, "ControlText"] = {}


_URL = ControlText("Address", "A link, which may be a template.", "https://example.com/orders/{{payload.order}}")
_TARGET = ControlText("Opens in", "Where the link opens.")
_REDIRECT_MEMBERS = {"url": _URL, "target": _TARGET}


def _button(title: str) -> ControlText:
    redirect = ControlText("Link", "What a click opens.", members=_REDIRECT_MEMBERS)
    label = ControlText("Label", "The text of the button.", "See the order")
    answer = ControlText("Answer", "What it answers: the stepId of a question, a dot and a choice.", "approval.approve")
    members = {"label": label, "redirect": redirect, "answer": answer}
    return ControlText(title, "A button below the message.", members=members)


_OF_STEP = ControlText("Messages of", "The earlier step whose messages are meant.", "inbox")
_SKIP = ControlText("Condition", "JSON-logic: the step runs if it is true.")
_PLAIN_BODY = ControlText("Text", "The message, a Liquid template.", "Order {{payload.order}} is on its way")
_DATA = ControlText("Data", "What the application gets with the message; texts in it are templates.")
_RAW_MARKUP = ControlText("Keep all markup", "Dangerous markup of values is not removed.")
_AMOUNT = ControlText("Amount", "How many units of time; fractions are possible.", 5)
_UNIT = ControlText("Unit", "Months are those of the calendar, and days follow the subscriber's time zone.", "minutes")
_CRON = ControlText("Cron expression", "When a timed step ends, in the subscriber's time zone.", "0 9 * * 1-5")
_EXTEND = ControlText("Wait for the schedule", "An end outside the subscriber's schedule is put off until that begins.")

TEXTS: dict[StepType, Mapping[str, ControlText]] = {
    StepType.IN_APP: {
        "subject": ControlText("Subject", "The first line of the message, a Liquid template.", "Your order"),
        "body": _PLAIN_BODY,
        "avatar": ControlText("Picture", "The address of a picture.", "https://example.com/shop.png"),
        "primaryAction": _button("First button"),
        "secondaryAction": _button("Second button"),
        "redirect": ControlText("Link", "What a click on the message opens.", members=_REDIRECT_MEMBERS),
        "data": _DATA,
        "disableOutputSanitization": _RAW_MARKUP,
        "skip": _SKIP,
    },
    StepType.EMAIL: {
        "subject": ControlText("Subject", "A Liquid template.", "Order {{payload.order}} is on its way"),
        "body": ControlText(
            "Body", "HTML, MJML or a block document, with Liquid; values are escaped.", media_type="text/html"
        ),
        "preheader": ControlText("Preview text", "What mail programs show beside the subject."),
        "from": ControlText(
            "Sender", "An address, or an object with `email` and `name`; else the integration's.", "shop@example.com"
        ),
        "senderName": ControlText("Sender's name", "Shown instead of the address.", "The shop"),
        "replyTo": ControlText("Reply to", "One address, several with commas, or a list.", "help@example.com"),
        "cc": ControlText("Copies", "One address, several with commas, or a list."),
        "bcc": ControlText("Hidden copies", "One address, several with commas, or a list."),
        "headers": ControlText("Headers", "More headers of the e-mail, by their names."),
        "useProviderDefaults": ControlText("Sender of the integration", "The sender is that of the integration."),
        "editorType": ControlText("Editor", "What the body is: `html`, `mjml` or `block`."),
        "layoutId": ControlText(
            "Layout", "The identifier of what stands around the body; without one, nothing does.", "newsletter"
        ),
        "disableOutputSanitization": _RAW_MARKUP,
        "skip": _SKIP,
    },
    StepType.SMS: {"body": _PLAIN_BODY, "skip": _SKIP},
    StepType.CHAT: {"body": _PLAIN_BODY, "skip": _SKIP},
    StepType.PUSH: {
        "subject": ControlText("Title", "The title of the notification, a Liquid template.", "Your order"),
        "body": _PLAIN_BODY,
        "data": _DATA,
        "skip": _SKIP,
    },
    StepType.DELAY: {
        "type": ControlText("Kind", "For a time, until a moment, or by a cron expression.", "regular"),
        "amount": _AMOUNT,
        "unit": _UNIT,
        "cron": _CRON,
        "delayPath": ControlText("Moment", "Where the payload has the moment at which to go on.", "payload.sendAt"),
        "dynamicKey": ControlText("Length or moment", "Where the payload has a length or a moment.", "payload.wait"),
        "extendToSchedule": _EXTEND,
        "skip": _SKIP,
    },
    StepType.DIGEST: {
        "type": ControlText("Kind", "For a time, or by a cron expression.", "regular"),
        "amount": _AMOUNT,
        "unit": _UNIT,
        "cron": _CRON,
        "digestKey": ControlText("Key", "Events are digested together if this value is the same.", "{{payload.room}}"),
        "lookBackWindow": ControlText(
            "Look back",
            "The first event within this time goes on at once, and only further ones are digested.",
            members={"amount": _AMOUNT, "unit": _UNIT},
        ),
        "slideUpTo": ControlText(
            "Longest time",
            "Each further event starts the time anew, until this long after the first one.",
            members={"amount": _AMOUNT, "unit": _UNIT},
        ),
        "maxItems": ControlText("Most events", "The digest goes on at once when it has so many events.", 20),
        "dynamicKey": ControlText(
            "Length from",
            "Where the payload or the subscriber has the length: an amount with a unit, or text such as PT30M.",
            "subscriber.data.digestEvery",
        ),
        "retain": ControlText(
            "Shown events",
            "Which events templates see: the first so many in an order. All are counted.",
            members={
                "by": ControlText("By", "`time`, or where the payload has what decides.", "payload.score"),
                "order": ControlText("Order", "Ascending or descending.", "desc"),
                "count": ControlText("Count", "How many; without it, up to 500.", 10),
            },
        ),
        "version": ControlText(
            "Goes on with",
            "The version that the run started with, or the latest one, if that has the step still.",
            "latest",
        ),
        "extendToSchedule": _EXTEND,
        "skip": _SKIP,
    },
    StepType.THROTTLE: {
        "type": ControlText("Kind", "A fixed length of time, or one from the payload.", "fixed"),
        "threshold": ControlText("Limit", "How many runs of a person pass in the time; without it, one.", 1),
        "amount": _AMOUNT,
        "unit": _UNIT,
        "dynamicKey": ControlText("Length", "Where the payload has the length of time.", "payload.window"),
        "throttleKey": ControlText("Key", "Runs are counted together if this value is the same.", "payload.room"),
        "skip": _SKIP,
    },
    StepType.CUSTOM: {"skip": _SKIP},
    StepType.BRANCH: {
        "paths": ControlText(
            "Paths", "The ways on with their steps: the first whose condition holds, or one by weight."
        ),
        "otherwise": ControlText("Otherwise", "The way on where no condition holds; without it, none is taken."),
        "skip": _SKIP,
    },
    StepType.EXIT: {
        "reason": ControlText("Reason", "Why the run ends here, for those who read about it.", "has paid already"),
        "skip": _SKIP,
    },
    StepType.TRIGGER: {
        "workflowId": ControlText("Workflow", "The identifier of the workflow that is triggered.", "escalation"),
        "to": ControlText(
            "For", "The subscriberId of somebody else, or several; else the same person.", "{{payload.lead}}"
        ),
        "payload": ControlText("Payload", "What the workflow gets; texts in it are templates."),
        "skip": _SKIP,
    },
    StepType.TOOL: {"body": _PLAIN_BODY, "skip": _SKIP},
    StepType.WAIT_FOR: {
        "event": ControlText("Event", "The name of the event; those of messages begin with message.", "order.paid"),
        "ofStep": ControlText("Message of", "The step whose message an event of messages is about; else any.", "mail"),
        "match": ControlText("Must have", "Values that the data of the event must have; texts are templates."),
        "condition": ControlText("Event condition", "JSON-logic over `event.data`: which events are meant."),
        "timeout": ControlText("Wait at most", "Up to 90 days.", members={"amount": _AMOUNT, "unit": _UNIT}),
        "onTimeout": ControlText("Without the event", "The run goes on, or it ends here.", "continue"),
        "since": ControlText("Events since", "The trigger, or the moment when the step is reached.", "trigger"),
        "skip": _SKIP,
    },
    StepType.UPDATE: {
        "ofStep": _OF_STEP,
        "subject": ControlText("Subject", "Of push messages the title; a Liquid template.", "Your order"),
        "body": _PLAIN_BODY,
        "avatar": ControlText("Picture", "The address of a picture.", "https://example.com/shop.png"),
        "primaryAction": _button("First button"),
        "secondaryAction": _button("Second button"),
        "redirect": ControlText("Link", "What a click on the message opens.", members=_REDIRECT_MEMBERS),
        "data": _DATA,
        "disableOutputSanitization": _RAW_MARKUP,
        "skip": _SKIP,
    },
    StepType.CLEAR: {"ofStep": _OF_STEP, "skip": _SKIP},
    StepType.HTTP_REQUEST: {
        "method": ControlText("Method", "How the URL is called; without it, POST.", "POST"),
        "url": ControlText(
            "URL",
            "A Liquid template that has the host in plain text or in a variable of the environment.",
            "https://example.com/people/{{subscriber.subscriberId}}",
        ),
        "headers": ControlText("Headers", "More headers; values are Liquid templates, such as {{env.API_KEY}}."),
        "body": ControlText(
            "Body",
            "JSON: a text, which is a Liquid template, or an object whose texts are templates. Not sent with GET "
            "and DELETE.",
            '{"order": {{payload.order | json}}}',
        ),
        "responseBodySchema": ControlText(
            "Schema of the answer", "The JSON Schema of the answer's body, by which later steps know its members."
        ),
        "enforceSchemaValidation": ControlText(
            "Schema is binding", "The step fails if the answer does not fit the schema."
        ),
        "timeout": ControlText("Time limit", "Seconds that the answer may take, at most 15; without it, 5.", 5),
        "share": ControlText(
            "One request for",
            "Each person, or all people of a trigger together; without it, each person. One for all knows no person.",
            "person",
        ),
        "onFailure": ControlText("If it fails", "Whether the run ends or goes on; without it, it ends.", "stop"),
        "continueOnFailure": ControlText("Go on if it fails", "The same as `onFailure`: true is `continue`."),
        "skip": _SKIP,
    },
    StepType.ASK: {
        "question": ControlText(
            "Question", "What is asked; the page that links lead to shows it.", "Approve {{payload.order}}?"
        ),
        "choices": ControlText("Choices", "The answers that may be given, each with a value and a label."),
        "timeout": ControlText("Wait at most", "Up to 90 days.", members={"amount": _AMOUNT, "unit": _UNIT}),
        "onTimeout": ControlText("Without an answer", "The run goes on, or it ends here.", "continue"),
        "escalate": ControlText(
            "Escalate",
            "Who else is asked if nobody has answered for a while.",
            members={
                "after": ControlText("After", "Shorter than the timeout.", members={"amount": _AMOUNT, "unit": _UNIT}),
                "to": ControlText("To", "The subscriberId of somebody else, or several.", "{{payload.lead}}"),
                "workflowId": ControlText("Workflow", "The identifier of the workflow that asks them.", "escalation"),
                "payload": ControlText("Payload", "What the workflow gets besides the question and the links."),
            },
        ),
        "skip": _SKIP,
    },
}

WIDGETS: dict[StepType, Mapping[str, str]] = {
    StepType.IN_APP: {
        "subject": "IN_APP_PRIMARY_SUBJECT",
        "body": "IN_APP_BODY",
        "avatar": "IN_APP_AVATAR",
        "primaryAction": "IN_APP_BUTTON_DROPDOWN",
        "secondaryAction": "IN_APP_BUTTON_DROPDOWN",
        "redirect": "URL_TEXT_BOX",
        "data": "DATA",
        "disableOutputSanitization": "IN_APP_DISABLE_SANITIZATION_SWITCH",
        "skip": "QUERY_EDITOR",
    },
    StepType.EMAIL: {
        "subject": "TEXT_INLINE_LABEL",
        "body": "EMAIL_BODY",
        "preheader": "TEXT_FULL_LINE",
        "senderName": "TEXT_FULL_LINE",
        "editorType": "EMAIL_EDITOR_SELECT",
        "layoutId": "LAYOUT_SELECT",
        "disableOutputSanitization": "DISABLE_SANITIZATION_SWITCH",
        "skip": "QUERY_EDITOR",
    },
    StepType.SMS: {"body": "SMS_BODY", "skip": "QUERY_EDITOR"},
    StepType.CHAT: {"body": "CHAT_BODY", "skip": "QUERY_EDITOR"},
    StepType.PUSH: {"subject": "PUSH_SUBJECT", "body": "PUSH_BODY", "data": "DATA", "skip": "QUERY_EDITOR"},
    StepType.DELAY: {
        "type": "DELAY_TYPE",
        "amount": "DELAY_AMOUNT",
        "unit": "DELAY_UNIT",
        "cron": "DELAY_CRON",
        "dynamicKey": "DELAY_DYNAMIC_KEY",
        "extendToSchedule": "EXTEND_TO_SCHEDULE",
        "skip": "QUERY_EDITOR",
    },
    StepType.DIGEST: {
        "type": "DIGEST_TYPE",
        "amount": "DIGEST_AMOUNT",
        "unit": "DIGEST_UNIT",
        "cron": "DIGEST_CRON",
        "digestKey": "DIGEST_KEY",
        "extendToSchedule": "EXTEND_TO_SCHEDULE",
        "skip": "QUERY_EDITOR",
    },
    StepType.THROTTLE: {
        "type": "THROTTLE_TYPE",
        "threshold": "THROTTLE_THRESHOLD",
        "amount": "THROTTLE_WINDOW",
        "unit": "THROTTLE_UNIT",
        "dynamicKey": "THROTTLE_DYNAMIC_KEY",
        "throttleKey": "THROTTLE_KEY",
        "skip": "QUERY_EDITOR",
    },
    StepType.BRANCH: {"skip": "QUERY_EDITOR"},
    StepType.EXIT: {"reason": "TEXT", "skip": "QUERY_EDITOR"},
    StepType.TRIGGER: {"workflowId": "TEXT", "to": "TEXT", "payload": "DATA", "skip": "QUERY_EDITOR"},
    StepType.TOOL: {"body": "TOOL_BODY", "skip": "QUERY_EDITOR"},
    StepType.WAIT_FOR: {"event": "TEXT", "ofStep": "TEXT", "skip": "QUERY_EDITOR"},
    StepType.UPDATE: {
        "ofStep": "TEXT",
        "subject": "IN_APP_PRIMARY_SUBJECT",
        "body": "IN_APP_BODY",
        "avatar": "IN_APP_AVATAR",
        "primaryAction": "IN_APP_BUTTON_DROPDOWN",
        "secondaryAction": "IN_APP_BUTTON_DROPDOWN",
        "redirect": "URL_TEXT_BOX",
        "data": "DATA",
        "disableOutputSanitization": "IN_APP_DISABLE_SANITIZATION_SWITCH",
        "skip": "QUERY_EDITOR",
    },
    StepType.CLEAR: {"ofStep": "TEXT", "skip": "QUERY_EDITOR"},
    StepType.HTTP_REQUEST: {
        "method": "DROPDOWN",
        "url": "URL_TEXT_BOX",
        "headers": "DATA",
        "body": "TEXT_FULL_LINE",
        "responseBodySchema": "DATA",
        "timeout": "TEXT",
        "skip": "QUERY_EDITOR",
    },
    StepType.ASK: {"question": "TEXT", "skip": "QUERY_EDITOR"},
}
"""Names of widgets that published dashboards know."""
