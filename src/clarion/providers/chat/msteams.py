"""Microsoft Teams: an adaptive card to the webhook of a workflow or of a legacy connector."""

import re
from typing import Any

import msgspec

from clarion.providers.chat.message import Chat
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.provider import ChatProvider
from clarion.providers.definition.request import ProviderRequest
from clarion.providers.definition.result import codes, either, header_id, own_id, text_codes
from clarion.secret import Secret


class MsteamsCredentials(Credentials):
    """The app at Microsoft, kept with the integration; webhooks need nothing of it."""

    client_id: str = ""
    secret_key: Secret = Secret("")
    tenant_id: str = ""


_REFUSAL = re.compile(r"delivery failed|returned HTTP error", re.IGNORECASE)


def request(_: Credentials, chat: Chat) -> ProviderRequest:
    return ProviderRequest.json(chat.webhook_url, _body(chat.text))


def _body(text: str) -> dict[str, Any]:
    """Wrap a text in a card; JSON content is used as a card or as the whole message."""
    try:
        given = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        given = None
    if isinstance(given, dict) and given.get("type") != "AdaptiveCard":
        return given
    # Workflows accept plain texts and legacy cards, but then fail without an error.
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
    credentials=MsteamsCredentials,
    request=request,
    sent=either(header_id("x-ms-workflow-run-id"), own_id),
    # Connectors report errors as text with a 200.
    accepts=lambda answer: not _REFUSAL.search(answer.text),
    failures=(
        text_codes(
            r"returned HTTP error (\d{3})",
            rate_limited=(429,),
            retryable=(408, 500, 502, 503, 504),
            recipient_invalid=(404, 410),
        ),
        # The workflow is deleted or disabled.
        codes("error.code", recipient_invalid=("WorkflowTriggerIsNotEnabled", "WorkflowNotFound")),
    ),
    documentation="https://learn.microsoft.com/en-us/connectors/teams/#microsoft-teams-webhook",
    note="Content that is the JSON of an adaptive card is sent as that card.",
)
