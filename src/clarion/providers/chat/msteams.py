"""Microsoft Teams: a card to the webhook of a workflow, or a message of a bot to a channel or a person."""

import re
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.providers.chat.message import Chat
from clarion.providers.definition.changes import ChangeKind, Place, SentMessage
from clarion.providers.definition.credentials import URL, Credentials, FormatRule
from clarion.providers.definition.edits import Edits
from clarion.providers.definition.provider import ChatProvider, TokenExchange
from clarion.providers.definition.receipts import RequestFlow
from clarion.providers.definition.request import ProviderRequest, path_part
from clarion.providers.definition.result import (
    Classifier,
    FailureKind,
    ProviderAnswer,
    SendContext,
    SendFailure,
    classify_status,
    codes,
    either,
    error_text,
    header_id,
    json_id,
    own_id,
    read_error_text,
    refuse_account,
    text_codes,
)
from clarion.secret import Secret

TEAMS_CHANNEL = "ms_teams_channel"
TEAMS_USER = "ms_teams_user"
# Those of the public cloud and of GCC. GCC High and DoD sign in elsewhere.
_SERVICES = ("smba.trafficmanager.net", "smba.infra.gcc.teams.microsoft.com")
_BOT_SCOPE = "https://api.botframework.com/.default"
_SHARED_TENANT = "botframework.com"
"""Where bots get their tokens that belong to no tenant."""
_TOKEN_MARGIN_SECONDS = 5 * 60


def _is_service(text: str) -> bool:
    if not URL.accepts(text):
        return False
    parts = urlsplit(text)
    return parts.scheme == "https" and parts.netloc in _SERVICES and not parts.query and not parts.fragment


SERVICE_URL = FormatRule(_is_service, f"must be an https URL at {' or '.join(_SERVICES)}")


class MsteamsCredentials(Credentials):
    """The app at Microsoft, with its bot; webhooks need nothing of it."""

    client_id: str = ""
    secret_key: Secret = Secret("")
    tenant_id: str = ""
    """The tenant that the app is registered in."""
    application_id: str = ""
    """The id in the manifest of the Teams app; by default the client id."""
    redirect_url: str = ""
    hmac: bool = False
    base_url: Annotated[str, SERVICE_URL] = "https://smba.trafficmanager.net/teams"

    @property
    def has_bot(self) -> bool:
        return bool(self.client_id and self.secret_key.reveal())

    def conversations_url(self, path: str = "") -> str:
        return f"{self.base_url.rstrip('/')}/v3/conversations{path}"


def token_request(account: MsteamsCredentials, tenant: str, scope: str) -> ProviderRequest:
    """Ask for a token of the app itself, in a tenant."""
    fields = {
        "grant_type": "client_credentials",
        "client_id": account.client_id,
        "client_secret": account.secret_key.reveal(),
        "scope": scope,
    }
    return ProviderRequest.form(token_url(tenant), fields)


def token_url(tenant: str) -> str:
    return f"https://login.microsoftonline.com/{path_part(tenant)}/oauth2/v2.0/token"


def request(account: MsteamsCredentials, chat: Chat) -> ProviderRequest | RequestFlow[ProviderRequest]:
    kind = chat.entry.get("endpointType")
    if kind not in (TEAMS_CHANNEL, TEAMS_USER):
        # Anybody may own the webhook: it never gets the token of the bot.
        return replace(ProviderRequest.json(chat.webhook_url, _body(chat.text)), takes_token=False)
    if not account.has_bot:
        raise refuse_account("The integration has no clientId and secretKey, which the bot needs")
    tenant = chat.entry.get("tenantId") or chat.entry.get("workspaceId")
    if not tenant:
        raise SendFailure(FailureKind.RECIPIENT_INVALID, "The tenant is not known: connect it again")
    if kind == TEAMS_USER:
        return _send_to_person(account, chat, tenant)
    return _send_to_channel(account, chat, tenant)


def _send_to_channel(account: MsteamsCredentials, chat: Chat, tenant: str) -> ProviderRequest:
    channel_id = str(chat.entry["channelId"])
    place = {"tenant": {"id": tenant}, "team": {"id": chat.entry["teamId"]}, "channel": {"id": channel_id}}
    body = {**_activity(account, chat), "channelData": place}
    return ProviderRequest.json(account.conversations_url(f"/{path_part(channel_id)}/activities"), body)


def _send_to_person(account: MsteamsCredentials, chat: Chat, tenant: str) -> RequestFlow[ProviderRequest]:
    conversation_id = yield from _find_conversation(account, chat, tenant)
    url = account.conversations_url(f"/{path_part(conversation_id)}/activities")
    return ProviderRequest.json(url, _activity(account, chat))


def _find_conversation(account: MsteamsCredentials, chat: Chat, tenant: str) -> RequestFlow[str]:
    """Creating the conversation once more returns the same one."""
    members = [{"id": chat.entry["userId"]}]
    body = {"isGroup": False, "bot": _bot(account), "members": members, "tenantId": tenant}
    body["channelData"] = {"tenant": {"id": tenant}}
    answer = yield ProviderRequest.json(account.conversations_url(), body)
    conversation_id = answer.value("id")
    if not answer.is_success or not isinstance(conversation_id, str):
        raise _refuse_conversation(answer)
    return conversation_id


def update(account: MsteamsCredentials, chat: Chat, sent: SentMessage) -> RequestFlow[ProviderRequest]:
    url = yield from _find_activity(account, chat, sent)
    return replace(ProviderRequest.json(url, _activity(account, chat)), method="PUT")


def withdraw(account: MsteamsCredentials, chat: Chat, sent: SentMessage) -> RequestFlow[ProviderRequest]:
    url = yield from _find_activity(account, chat, sent)
    return ProviderRequest(url=url, method="DELETE")


def read_place(_: ProviderAnswer, context: SendContext) -> Place | None:
    """Read where the bot wrote to; a webhook gives no id of its messages."""
    entry = context.message.entry
    if entry.get("endpointType") == TEAMS_CHANNEL:
        return {"conversation": str(entry["channelId"])}
    if entry.get("endpointType") == TEAMS_USER:
        return {"tenant": str(entry.get("tenantId") or entry.get("workspaceId"))}
    return None


def is_done(answer: ProviderAnswer, kind: ChangeKind) -> bool:
    return kind is ChangeKind.WITHDRAW and answer.value("error.code") == "ActivityNotFoundInConversation"


def _find_activity(account: MsteamsCredentials, chat: Chat, sent: SentMessage) -> RequestFlow[str]:
    conversation_id = sent.place.get("conversation")
    if conversation_id is None:
        conversation_id = yield from _find_conversation(account, chat, sent.place["tenant"])
    activity_id = path_part(sent.provider_message_id)
    return account.conversations_url(f"/{path_part(conversation_id)}/activities/{activity_id}")


def _refuse_conversation(answer: ProviderAnswer) -> SendFailure:
    found = next((kind for kind in (classify(answer) for classify in _FAILURES) if kind is not None), None)
    kind = found if isinstance(found, FailureKind) else classify_status(answer.status)
    sentence = f"Microsoft Teams answered {answer.status} when it was asked for the chat: {read_error_text(answer)}"
    raw = {"status": answer.status, "body": answer.text}
    return SendFailure(kind, sentence, retry_after=answer.retry_after, raw=raw)


def _activity(account: MsteamsCredentials, chat: Chat) -> dict[str, Any]:
    """A card if the content is the JSON of one, else a text."""
    card = _read_json(chat.text)
    content = {"text": chat.text} if not _is_card(card) else {"attachments": [_attach(card)]}
    return {"type": "message", "from": _bot(account), **content}


def _bot(account: MsteamsCredentials) -> dict[str, str]:
    return {"id": f"28:{account.client_id}"}


def _body(text: str) -> dict[str, Any]:
    """Wrap a text in a card; JSON content is used as a card or as the whole message."""
    given = _read_json(text)
    if isinstance(given, dict) and not _is_card(given):
        return given
    # Workflows accept plain texts and legacy cards, but then fail without an error.
    return {"type": "message", "attachments": [_attach(given if _is_card(given) else _card(text))]}


def _read_json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None


def _is_card(given: Any) -> bool:
    return isinstance(given, dict) and given.get("type") == "AdaptiveCard"


def _attach(card: Any) -> dict[str, Any]:
    return {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}


def _card(text: str) -> dict[str, Any]:
    return {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [{"type": "TextBlock", "text": text, "wrap": True}],
    }


def _request_token(account: MsteamsCredentials, _: Millis) -> ProviderRequest:
    return token_request(account, account.tenant_id or _SHARED_TENANT, _BOT_SCOPE)


_REFUSAL = re.compile(r"delivery failed|returned HTTP error", re.IGNORECASE)
# The bot is not installed for the person or in the team, was blocked, or the address is gone.
_UNREACHABLE = r"bot is not installed|not part of the conversation|MessageWritesBlocked|conversation is blocked"
_FAILURES: tuple[Classifier, ...] = (
    text_codes(
        r"returned HTTP error (\d{3})",
        rate_limited=(429,),
        retryable=(408, 500, 502, 503, 504),
        recipient_invalid=(404, 410),
    ),
    codes(
        "error.code",
        # The workflow is deleted or disabled.
        recipient_invalid=(
            *("WorkflowTriggerIsNotEnabled", "WorkflowNotFound", "ConversationNotFound", "BotNotInConversationRoster"),
            *("ConversationBlockedByUser", "BotDisabledByAdmin"),
        ),
        rate_limited=("Throttled",),
        retryable=("PreconditionFailed",),
        account_refused=("BotNotRegistered",),
    ),
    error_text(_UNREACHABLE, FailureKind.RECIPIENT_INVALID, status=403),
)

PROVIDER = ChatProvider(
    id="msteams",
    name="Microsoft Teams",
    credentials=MsteamsCredentials,
    request=request,
    sent=either(header_id("x-ms-workflow-run-id"), json_id("id"), own_id),
    # Connectors report errors as text with a 200.
    accepts=lambda answer: not _REFUSAL.search(answer.text),
    failures=_FAILURES,
    edits=Edits(read_place=read_place, update=update, withdraw=withdraw, is_done=is_done),
    token=TokenExchange(
        request=_request_token,
        margin_seconds=_TOKEN_MARGIN_SECONDS,
        is_needed=lambda account: account.has_bot,
    ),
    documentation="https://learn.microsoft.com/en-us/connectors/teams/#microsoft-teams-webhook",
    note="Content that is the JSON of an adaptive card is sent as that card. With `clientId` and `secretKey`, those of "
    "a bot, it also goes to endpoints of type `ms_teams_channel` and `ms_teams_user`.",
)
