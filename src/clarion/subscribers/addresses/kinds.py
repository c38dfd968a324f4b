"""Kinds of endpoints: what the address of each has, and the providers that it is for."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from clarion.errors import Problem
from clarion.http.input.validation import find_problems
from clarion.http.wire import CheckedText, EmailText, Wire
from clarion.subscribers.addresses.model import EndpointType

_WithoutSpace = Annotated[str, Meta(min_length=1, max_length=512, pattern=r"^[!-~]+$")]
_SecretText = Annotated[str, Meta(min_length=1, max_length=4096)]
_Region = Literal["us", "eu"]
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_MAX_HEADERS = 20


class AddressUrl(CheckedText):
    __slots__ = ()
    RULE = "must be a URL that begins with https:// or http://, without spaces"
    FORMAT = "uri"
    EXAMPLE = "https://hooks.example.com/abc"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return len(text) <= 4096 and re.fullmatch(r"https?://[!-~]+", text) is not None


class AddressNumber(CheckedText):
    __slots__ = ()
    RULE = "must be a phone number in E.164 form, such as +441632960000"
    EXAMPLE = "+441632960000"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return re.fullmatch(r"\+[1-9][0-9]{4,14}", text) is not None


class SlackChannelAddress(Wire, forbid_unknown_fields=True):
    channel_id: _WithoutSpace
    """The id of the channel, such as C024BE91L."""


class SlackUserAddress(Wire, forbid_unknown_fields=True):
    user_id: _WithoutSpace
    """The id of the person in the workspace, such as U024BE7LH."""


class WebhookAddress(Wire, forbid_unknown_fields=True):
    url: AddressUrl
    """The incoming webhook; answers show its host alone."""
    channel: _WithoutSpace | UnsetType = UNSET
    """The channel that the webhook posts to."""


class PhoneAddress(Wire, forbid_unknown_fields=True):
    phone_number: AddressNumber
    """The number, with its country code."""


class TeamsChannelAddress(Wire, forbid_unknown_fields=True):
    team_id: _WithoutSpace
    """The id of the team."""
    channel_id: _WithoutSpace
    """The id of the channel, such as `19:…@thread.tacv2`."""


class TeamsUserAddress(Wire, forbid_unknown_fields=True):
    user_id: _WithoutSpace
    """The object id of the person in the directory of the tenant."""
    tenant_id: _WithoutSpace | UnsetType = UNSET
    """The tenant of the person, if it is not that of the connection."""


class TelegramChatAddress(Wire, forbid_unknown_fields=True):
    chat_id: _WithoutSpace
    """The id of the chat with the bot."""


class WebexRoomAddress(Wire, forbid_unknown_fields=True):
    room_id: _WithoutSpace
    """The id of the room."""
    parent_id: _WithoutSpace | UnsetType = UNSET
    """The message that this one replies to."""


class WebexPersonAddress(Wire, forbid_unknown_fields=True):
    """Exactly one of the two."""

    person_id: _WithoutSpace | UnsetType = UNSET
    """The id of the person."""
    person_email: EmailText | UnsetType = UNSET
    """The e-mail address of the person."""


class LineUserAddress(Wire, forbid_unknown_fields=True):
    user_id: _WithoutSpace
    """The id of the person."""


class PagerDutyAddress(Wire, forbid_unknown_fields=True):
    routing_key: Annotated[str, Meta(pattern=r"^[A-Za-z0-9]{32}$")]
    """The integration key of the service; masked in answers."""
    region: _Region
    """The region of the account."""


class OpsgenieAddress(Wire, forbid_unknown_fields=True):
    api_key: Annotated[str, Meta(pattern=r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")]
    """The key of the integration; masked in answers."""
    region: _Region
    """The region of the account."""


class GrafanaOnCallAddress(Wire, forbid_unknown_fields=True):
    url: AddressUrl
    """The URL of the integration; answers show its host alone."""
    auth_token: _SecretText | UnsetType = UNSET
    """The token of a service account, where the integration asks for one; masked in answers."""


class ToolWebhookAddress(Wire, forbid_unknown_fields=True):
    url: AddressUrl
    """The address that is called; answers show its host alone."""
    headers: dict[str, _SecretText] | UnsetType = UNSET
    """Headers of each call; their values are masked in answers."""
    method: Literal["POST", "PUT", "PATCH"] | UnsetType = UNSET
    """The method of each call."""


class EndpointKind(Struct, frozen=True):
    shape: type[Wire]
    providers: tuple[str, ...]
    """Those that send to it."""
    needs_connection: bool = False
    instead_of_connection: str = ""
    """The member of the address that says what the connection would."""


_BY_WEBHOOK = (
    *("slack", "chat-webhook", "discord", "mattermost", "rocket-chat", "ryver", "zulip", "msteams"),
    *("getstream", "grafana-on-call"),
)
KINDS: Mapping[EndpointType, EndpointKind] = {
    EndpointType.SLACK_CHANNEL: EndpointKind(SlackChannelAddress, ("slack",)),
    EndpointType.SLACK_USER: EndpointKind(SlackUserAddress, ("slack",)),
    EndpointType.WEBHOOK: EndpointKind(WebhookAddress, _BY_WEBHOOK),
    EndpointType.PHONE: EndpointKind(PhoneAddress, ("whatsapp-business",)),
    EndpointType.MS_TEAMS_CHANNEL: EndpointKind(TeamsChannelAddress, ("msteams",), needs_connection=True),
    EndpointType.MS_TEAMS_USER: EndpointKind(
        TeamsUserAddress, ("msteams",), needs_connection=True, instead_of_connection="tenantId"
    ),
    EndpointType.TELEGRAM_CHAT: EndpointKind(TelegramChatAddress, ("telegram",)),
    EndpointType.WEBEX_ROOM: EndpointKind(WebexRoomAddress, ("webex-messaging",), needs_connection=True),
    EndpointType.WEBEX_PERSON: EndpointKind(WebexPersonAddress, ("webex-messaging",), needs_connection=True),
    EndpointType.LINE_USER: EndpointKind(LineUserAddress, ("line",)),
    EndpointType.PAGERDUTY_SERVICE: EndpointKind(PagerDutyAddress, ("pagerduty",)),
    EndpointType.OPSGENIE_INTEGRATION: EndpointKind(OpsgenieAddress, ("opsgenie",)),
    EndpointType.GRAFANA_ONCALL_INTEGRATION: EndpointKind(GrafanaOnCallAddress, ("grafana",)),
    EndpointType.TOOL_WEBHOOK: EndpointKind(ToolWebhookAddress, ("tool-webhook",)),
}


ADDRESSES = tuple(kind.shape for kind in KINDS.values())


def find_endpoint_problems(kind: EndpointType, endpoint: Mapping[str, Any]) -> dict[str, list[Problem]]:
    """What is wrong with the address of an endpoint of this type, by path; secrets are not repeated."""
    problems: dict[str, list[Problem]] = {}
    for path, problem in find_problems(dict(endpoint), KINDS[kind].shape, "endpoint"):
        problems.setdefault(path, []).append(Problem(f"{problem.message} (endpoints of type {kind})"))
    if not problems and kind is EndpointType.WEBEX_PERSON and len(endpoint) != 1:
        problems["endpoint"] = [Problem("must have exactly one of personId and personEmail")]
    if not problems and kind is EndpointType.TOOL_WEBHOOK:
        problems |= _find_header_problems(endpoint.get("headers") or {})
    return problems


def find_provider_problem(kind: EndpointType, provider_id: str) -> str | None:
    """Why endpoints of this type cannot belong to an integration of the provider."""
    providers = KINDS[kind].providers
    if provider_id in providers:
        return None
    return f"is of the provider '{provider_id}', but endpoints of type {kind} need one of {', '.join(providers)}"


def _find_header_problems(headers: Mapping[str, str]) -> dict[str, list[Problem]]:
    if len(headers) > _MAX_HEADERS:
        return {"endpoint.headers": [Problem(f"must have at most {_MAX_HEADERS} headers")]}
    names = [name for name in headers if _HEADER_NAME.fullmatch(name) is None]
    values = [name for name, value in headers.items() if not value.isprintable() or not value.isascii()]
    problems = {f"endpoint.headers.{name}": [Problem("is not the name of a header")] for name in names}
    rule = "must be printable ASCII, on one line"
    return problems | {f"endpoint.headers.{name}": [Problem(rule)] for name in values if name not in names}
