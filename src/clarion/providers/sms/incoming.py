"""How providers report text messages that people send, to the address of receipts."""

from collections.abc import Mapping
from typing import Any

from clarion.providers.definition.receipts import Callback, TextReader, form_events, json_or_form_events
from clarion.providers.definition.result import values_at


def _of_twilio(callback: Callback) -> list[Mapping[str, Any]]:
    """Return the message of a person; senders of other channels have a prefix, such as `whatsapp:`."""
    events = form_events(callback)
    return [one for one in events if "MessageStatus" not in one and str(one.get("From", "")).startswith("+")]


def _of_infobip(callback: Callback) -> list[Mapping[str, Any]]:
    return [message for event in callback.events() for message in event["results"]]


def _of_telnyx(callback: Callback) -> list[Mapping[str, Any]]:
    return [one for one in callback.events() if is_incoming_at_telnyx(one)]


def is_incoming_at_telnyx(event: Mapping[str, Any]) -> bool:
    """Return whether somebody sent it to us; it has the status of a delivery as well."""
    return next(values_at(event, "data.event_type"), None) == "message.received"


def _of_messagebird(callback: Callback) -> list[Mapping[str, Any]]:
    """Return messages of people: a number reports the text as `body`, and a flow that forwards it as `payload`."""
    events = json_or_form_events(callback)
    return [{**one, "text": one.get("body") or one.get("payload")} for one in events if "status" not in one]


TWILIO = TextReader(sender="From", text="Body", wish="OptOutType", stops="stop", starts="start", events=_of_twilio)
PLIVO = TextReader(sender="From", text="Text", wish="MessageIntent", stops="optout", starts="optin", events=form_events)
VONAGE = TextReader(sender="msisdn", text="text", events=json_or_form_events)
TELNYX = TextReader(sender="data.payload.from.phone_number", text="data.payload.text", events=_of_telnyx)
INFOBIP = TextReader(sender="from", text="text", events=_of_infobip)
MESSAGEBIRD = TextReader(sender="originator", text="text", events=_of_messagebird)
FORTY_SIX_ELKS = TextReader(sender="from", text="message", events=form_events)
