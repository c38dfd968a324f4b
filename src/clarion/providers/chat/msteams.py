"""Microsoft Teams: an adaptive card to the webhook of a workflow, or of one of the connectors that came before."""

import re
from typing import Any

import msgspec

from clarion.providers.chat.message import Chat
from clarion.providers.definition.answer import either, header_id, own_id
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.failures import codes, text_codes
from clarion.providers.definition.kinds import ChatProvider
from clarion.providers.definition.overrides import as_given
from clarion.providers.definition.request import ProviderRequest

_REFUSAL = re.compile(r"delivery failed|returned HTTP error", re.IGNORECASE)


def request(_: Credentials, chat: Chat) -> ProviderRequest:
    return ProviderRequest.json(chat.webhook_url, _body(chat.text))


def _body(text: str) -> dict[str, Any]:
    """A text becomes a card; JSON is a card or a whole message of the author's own making."""
    try:
        given = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        given = None
    if isinstance(given, dict) and given.get("type") != "AdaptiveCard":
        return given
    # Workflows take plain texts and older cards without a word, and then fail unseen.
    card = given if isinstance(given, dict) else _card(text)
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return {"type": "message", "attachments": [attachment]}


def _card(text: str) -> dict[str, Any]:
    return {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [{"type": "TextBlock", "text": text, "wrap": True}],
    }


PROVIDER = ChatProvider(
    id="msteams",
    name="Microsoft Teams",
    credentials=Credentials,
    request=request,
    sent=either(header_id("x-ms-workflow-run-id"), own_id),
    # Connectors tell of their failures in a sentence, with a 200.
    accepts=lambda answer: not _REFUSAL.search(answer.text),
    failures=(
        text_codes(
            r"returned HTTP error (\d{3})",
            rate_limited=(429,),
            retryable=(408, 500, 502, 503, 504),
            recipient_invalid=(404, 410),
        ),
        # The workflow is deleted or switched off, or the connector is gone.
        codes("error.code", recipient_invalid=("WorkflowTriggerIsNotEnabled", "WorkflowNotFound")),
    ),
    casing=as_given,
    page="https://learn.microsoft.com/en-us/connectors/teams/#microsoft-teams-webhook",
    note="Content that is the JSON of an adaptive card is sent as that card.",
)
