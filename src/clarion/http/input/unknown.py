"""What becomes of members of a request that its operation does not know: refused, accepted with a warning, or ignored.

A client of somebody else may send more than we read, and must go on working. A caller of our own operations who sends
something unknown has made a mistake.
"""

import functools
import json
import operator
import types
import typing
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Struct, field

from clarion.http.static import HeaderList
from clarion.http.wire import Wire

T = TypeVar("T", bound=Wire)

_made: dict[type[Wire], type[Wire]] = {}

HEADER_NAME = "Clarion-Warnings"
MAX_WARNINGS = 20
_HEADER = HEADER_NAME.lower().encode()
_MAX_HEADER_BYTES = 3_500
"""Proxies and clients refuse responses with long headers, many above 4 or 8 KB in all."""
_MAX_PATH = 100


class Contract(StrEnum):
    OWN = "own"
    """Defined here: unknown members are refused."""
    PUBLISHED = "published"
    """Called by the published clients: unknown members are accepted, and the response warns of them."""
    FOREIGN = "foreign"
    """Called by servers of others, such as providers, by rules of theirs: nothing that they add is looked at."""


def contract_of(method: str, path: str) -> Contract:
    """The contract of an operation that does not declare itself as foreign."""
    is_published = f"{method} {path}" in PUBLISHED or path.startswith(_INBOX)
    return Contract.PUBLISHED if is_published else Contract.OWN


class InputWarning(Struct, frozen=True):
    """Something about a field of a request; `message` continues a sentence that begins with the path."""

    path: str
    message: str

    @property
    def text(self) -> str:
        path = self.path if len(self.path) <= _MAX_PATH else f"{self.path[:_MAX_PATH]}…"
        return f"{path} {self.message}"


def warning_headers(warnings: Sequence[InputWarning]) -> HeaderList:
    """The header with an array of sentences as JSON, in ASCII; none if there are no warnings."""
    if not warnings:
        return []
    texts = list(dict.fromkeys(one.text for one in warnings))
    for count in range(min(len(texts), MAX_WARNINGS), 0, -1):
        more = [f"and {len(texts) - count} more"] if count < len(texts) else []
        content = json.dumps([*texts[:count], *more]).encode()
        if len(content) <= _MAX_HEADER_BYTES:
            return [(_HEADER, content)]
    return [(_HEADER, json.dumps([f"{len(texts)} warnings, too long for a header"]).encode())]


def strict(shape: type[T]) -> type[T]:
    """Return the subclass of the shape that refuses unknown members, also of the shapes inside.

    Decoding it costs no more than decoding the shape, and an instance of it is an instance of the shape, too.
    """
    if shape not in _made:
        hints = typing.get_type_hints(shape, include_extras=True)
        nested = [one for one in msgspec.structs.fields(shape) if _has_shape(hints[one.name])]
        namespace: dict[str, Any] = {"__module__": shape.__module__, "__doc__": shape.__doc__}
        namespace |= {one.name: _redeclare(one) for one in nested}
        namespace["__annotations__"] = {one.name: hints[one.name] for one in nested}
        metaclass: Any = type(shape)
        variant = metaclass(shape.__name__, (shape,), namespace, forbid_unknown_fields=True)
        # Before the types of the members, which may contain the shape itself. msgspec reads them when it first decodes.
        _made[shape] = variant
        variant.__annotations__.update({one.name: _strict_kind(hints[one.name]) for one in nested})
    return typing.cast("type[T]", _made[shape])


def _redeclare(info: msgspec.structs.FieldInfo) -> Any:
    if info.default_factory is not msgspec.NODEFAULT:
        return field(default_factory=info.default_factory, name=info.encode_name)
    return field(default=info.default, name=info.encode_name)


def _has_shape(kind: Any) -> bool:
    if _is_shape(kind):
        return True
    return any(_has_shape(inner) for inner in _types_inside(kind))


def _is_shape(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Wire)


def _types_inside(kind: Any) -> tuple[Any, ...]:
    origin = typing.get_origin(kind)
    if origin is Literal:
        return ()
    return typing.get_args(kind)[:1] if origin is Annotated else typing.get_args(kind)


def _strict_kind(kind: Any) -> Any:
    if _is_shape(kind):
        return strict(kind)
    if not _has_shape(kind):
        return kind
    origin, inner = typing.get_origin(kind), [_strict_kind(one) for one in _types_inside(kind)]
    if origin is Annotated:
        return Annotated[(*inner, *kind.__metadata__)]
    if origin in (typing.Union, types.UnionType):
        return functools.reduce(operator.or_, inner)
    return origin[tuple(inner)]


_INBOX = "/v1/inbox/"
"""The client of the published inbox component calls all of these."""

PUBLISHED = frozenset(
    {
        "GET /v1/channel-connections",
        "POST /v1/channel-connections",
        "DELETE /v1/channel-connections/{connectionIdentifier}",
        "GET /v1/channel-connections/{connectionIdentifier}",
        "PATCH /v1/channel-connections/{connectionIdentifier}",
        "GET /v1/channel-endpoints",
        "POST /v1/channel-endpoints",
        "DELETE /v1/channel-endpoints/{endpointIdentifier}",
        "GET /v1/channel-endpoints/{endpointIdentifier}",
        "PATCH /v1/channel-endpoints/{endpointIdentifier}",
        "GET /v1/environment-variables",
        "POST /v1/environment-variables",
        "DELETE /v1/environment-variables/{variableKey}",
        "GET /v1/environment-variables/{variableKey}",
        "PATCH /v1/environment-variables/{variableKey}",
        "GET /v1/environment-variables/{variableKey}/usage",
        "GET /v1/environments",
        "POST /v1/environments",
        "GET /v1/environments/api-keys",
        "GET /v1/environments/me",
        "DELETE /v1/environments/{environmentId}",
        "PUT /v1/environments/{environmentId}",
        "POST /v1/events/trigger",
        "POST /v1/events/trigger/broadcast",
        "POST /v1/events/trigger/bulk",
        "DELETE /v1/events/trigger/{transactionId}",
        "GET /v1/health-check",
        "POST /v1/integrations/channel-connections/oauth",
        "POST /v1/integrations/channel-endpoints/link",
        "POST /v1/integrations/channel-endpoints/oauth",
        "POST /v1/integrations/{integrationId}/auto-configure",
        "POST /v1/integrations/{integrationIdentifier}/mobile-link",
        "POST /v1/integrations/{integrationIdentifier}/webhook/configure",
        "POST /v1/integrations/chat/oauth",
        "GET /v1/integrations",
        "POST /v1/integrations",
        "GET /v1/integrations/active",
        "DELETE /v1/integrations/{integrationId}",
        "PUT /v1/integrations/{integrationId}",
        "POST /v1/integrations/{integrationId}/set-primary",
        "GET /v1/messages",
        "DELETE /v1/messages/transaction/{transactionId}",
        "DELETE /v1/messages/{messageId}",
        "GET /v1/organizations/settings",
        "PATCH /v1/organizations/settings",
        "GET /v1/users/me",
        "GET /v1/notifications",
        "GET /v1/notifications/{notificationId}",
        "POST /v1/subscribers/bulk",
        "PATCH /v1/subscribers/{subscriberId}/credentials",
        "PUT /v1/subscribers/{subscriberId}/credentials",
        "DELETE /v1/subscribers/{subscriberId}/credentials/{providerId}",
        "POST /v1/subscribers/{subscriberId}/messages/mark-all",
        "POST /v1/subscribers/{subscriberId}/messages/{messageId}/actions/{actionType}",
        "POST /v1/subscribers/{subscriberId}/messages/mark-as",
        "GET /v1/subscribers/{subscriberId}/notifications/feed",
        "GET /v1/subscribers/{subscriberId}/notifications/unseen",
        "PATCH /v1/subscribers/{subscriberId}/online-status",
        "GET /v1/topics/{topicKey}/subscribers/{externalSubscriberId}",
        "GET /v2/contexts",
        "POST /v2/contexts",
        "DELETE /v2/contexts/{contextType}/{contextId}",
        "GET /v2/contexts/{contextType}/{contextId}",
        "PATCH /v2/contexts/{contextType}/{contextId}",
        "GET /v2/environments/{environmentId}/tags",
        "POST /v2/environments/{targetEnvironmentId}/diff",
        "POST /v2/environments/{targetEnvironmentId}/publish",
        "GET /v2/layouts",
        "POST /v2/layouts",
        "DELETE /v2/layouts/{layoutId}",
        "GET /v2/layouts/{layoutId}",
        "PUT /v2/layouts/{layoutId}",
        "POST /v2/layouts/{layoutId}/duplicate",
        "POST /v2/layouts/{layoutId}/preview",
        "GET /v2/layouts/{layoutId}/usage",
        "GET /v2/subscribers",
        "POST /v2/subscribers",
        "DELETE /v2/subscribers/{subscriberId}",
        "GET /v2/subscribers/{subscriberId}",
        "PATCH /v2/subscribers/{subscriberId}",
        "GET /v2/subscribers/{subscriberId}/notifications",
        "POST /v2/subscribers/{subscriberId}/notifications/archive",
        "GET /v2/subscribers/{subscriberId}/notifications/count",
        "POST /v2/subscribers/{subscriberId}/notifications/delete",
        "POST /v2/subscribers/{subscriberId}/notifications/read",
        "POST /v2/subscribers/{subscriberId}/notifications/read-archive",
        "POST /v2/subscribers/{subscriberId}/notifications/seen",
        "DELETE /v2/subscribers/{subscriberId}/notifications/{notificationId}",
        "PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/actions/{actionType}/complete",
        "PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/actions/{actionType}/revert",
        "PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/archive",
        "PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/read",
        "PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/snooze",
        "PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/unarchive",
        "PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/unread",
        "PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/unsnooze",
        "GET /v2/subscribers/{subscriberId}/preferences",
        "PATCH /v2/subscribers/{subscriberId}/preferences",
        "PATCH /v2/subscribers/{subscriberId}/preferences/bulk",
        "GET /v2/subscribers/{subscriberId}/subscriptions",
        "GET /v2/topics",
        "POST /v2/topics",
        "DELETE /v2/topics/{topicKey}",
        "GET /v2/topics/{topicKey}",
        "PATCH /v2/topics/{topicKey}",
        "DELETE /v2/topics/{topicKey}/subscriptions",
        "GET /v2/topics/{topicKey}/subscriptions",
        "GET /v2/topics/{topicKey}/subscriptions/{identifier}",
        "PATCH /v2/topics/{topicKey}/subscriptions/{identifier}",
        "POST /v2/topics/{topicKey}/subscriptions",
        "POST /v2/translations",
        "GET /v2/translations/group/{resourceType}/{resourceId}",
        "GET /v2/translations/list",
        "GET /v2/translations/master-json",
        "POST /v2/translations/master-json",
        "POST /v2/translations/master-json/upload",
        "POST /v2/translations/upload",
        "DELETE /v2/translations/{resourceType}/{resourceId}",
        "DELETE /v2/translations/{resourceType}/{resourceId}/{locale}",
        "GET /v2/translations/{resourceType}/{resourceId}/{locale}",
        "GET /v2/workflows",
        "POST /v2/workflows",
        "DELETE /v2/workflows/{workflowId}",
        "GET /v2/workflows/{workflowId}",
        "PATCH /v2/workflows/{workflowId}",
        "PUT /v2/workflows/{workflowId}",
        "POST /v2/workflows/{workflowId}/duplicate",
        "POST /v2/workflows/{workflowId}/step/{stepId}/preview",
        "PUT /v2/workflows/{workflowId}/sync",
        "GET /v2/workflows/{workflowId}/steps/{stepId}",
    }
)
