"""Entries of the audit log as records, and the comparison of what was with what is."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from clarion.clock import Millis
from clarion.ids import AuditEntryId, EnvironmentId
from clarion.jsontext import encode_json, plain_value
from clarion.secret import Secret

SECRET_TEXT = "********"  # noqa: S105 - what is shown instead of a secret
"""On both sides of an entry, it says that a secret was replaced by another."""
MAX_TEXT = 1_000
"""Longer texts are cut: the log says what was changed, and is no copy of it."""
MAX_SIDE_BYTES = 64 * 1024
"""How much the JSON of `before` or `after` may have."""

Snapshot: TypeAlias = Mapping[str, Any]
"""Members of a resource by their names in the API: JSON values, and a `Secret` for each secret."""


class ActorType(StrEnum):
    """Who makes changes."""

    KEY = "apiKey"
    MEMBER = "member"
    COMMAND_LINE = "commandLine"
    SERVICE = "service"
    """Clarion itself, such as when it disables an endpoint that has failed for days."""


class TargetType(StrEnum):
    """What is changed."""

    WORKFLOW = "workflow"
    LAYOUT = "layout"
    INTEGRATION = "integration"
    WEBHOOK_ENDPOINT = "webhookEndpoint"
    ENVIRONMENT = "environment"
    ORGANIZATION = "organization"
    API_KEY = "apiKey"
    SUPPRESSION = "suppression"
    SUBSCRIBER = "subscriber"
    ENCRYPTION = "encryption"
    MEMBER = "member"
    INVITATION = "invitation"
    CHANNEL_CONNECTION = "channelConnection"
    TRANSLATION = "translation"
    VARIABLE = "environmentVariable"
    SEGMENT = "segment"
    SCHEDULE = "schedule"


class Action(StrEnum):
    """What is done to it."""

    WORKFLOW_CREATE = "workflow.create"
    WORKFLOW_DUPLICATE = "workflow.duplicate"
    WORKFLOW_UPDATE = "workflow.update"
    WORKFLOW_RESTORE = "workflow.restore"
    WORKFLOW_DELETE = "workflow.delete"
    LAYOUT_CREATE = "layout.create"
    LAYOUT_DUPLICATE = "layout.duplicate"
    LAYOUT_UPDATE = "layout.update"
    LAYOUT_SET_DEFAULT = "layout.setDefault"
    LAYOUT_DELETE = "layout.delete"
    TRANSLATION_UPDATE = "translation.update"
    TRANSLATION_DELETE = "translation.delete"
    TRANSLATION_SWITCH = "translation.switch"
    INTEGRATION_CREATE = "integration.create"
    INTEGRATION_UPDATE = "integration.update"
    INTEGRATION_CONFIGURE_WEBHOOK = "integration.configureWebhook"
    INTEGRATION_CREATE_MOBILE_LINK = "integration.createMobileLink"
    INTEGRATION_SET_PRIMARY = "integration.setPrimary"
    INTEGRATION_ORDER = "integration.order"
    INTEGRATION_DELETE = "integration.delete"
    INTEGRATION_TEST_EMAIL = "integration.testEmail"
    WEBHOOK_ENDPOINT_CREATE = "webhookEndpoint.create"
    WEBHOOK_ENDPOINT_UPDATE = "webhookEndpoint.update"
    WEBHOOK_ENDPOINT_ROTATE_SECRET = "webhookEndpoint.rotateSecret"  # noqa: S105 - an action
    WEBHOOK_ENDPOINT_DELETE = "webhookEndpoint.delete"
    ORGANIZATION_CREATE = "organization.create"
    ORGANIZATION_UPDATE = "organization.update"
    ENVIRONMENT_CREATE = "environment.create"
    ENVIRONMENT_UPDATE = "environment.update"
    ENVIRONMENT_PROMOTE = "environment.promote"
    ENVIRONMENT_REVOKE_SESSIONS = "environment.revokeSessions"
    ENVIRONMENT_DELETE = "environment.delete"
    VARIABLE_CREATE = "environmentVariable.create"
    VARIABLE_UPDATE = "environmentVariable.update"
    VARIABLE_DELETE = "environmentVariable.delete"
    SEGMENT_CREATE = "segment.create"
    SEGMENT_UPDATE = "segment.update"
    SEGMENT_DELETE = "segment.delete"
    SCHEDULE_CREATE = "schedule.create"
    SCHEDULE_UPDATE = "schedule.update"
    SCHEDULE_DELETE = "schedule.delete"
    API_KEY_CREATE = "apiKey.create"
    API_KEY_UPDATE = "apiKey.update"
    API_KEY_REVOKE = "apiKey.revoke"
    SUPPRESSION_CREATE = "suppression.create"
    SUPPRESSION_DELETE = "suppression.delete"
    CHANNEL_CONNECTION_CREATE = "channelConnection.create"
    CHANNEL_CONNECTION_UPDATE = "channelConnection.update"
    CHANNEL_CONNECTION_DELETE = "channelConnection.delete"
    SUBSCRIBER_ERASE = "subscriber.erase"
    ENCRYPTION_ROTATE = "encryption.rotate"
    MEMBER_CREATE = "member.create"
    MEMBER_CREATE_RESET_LINK = "member.createResetLink"
    MEMBER_RESET_PASSWORD = "member.resetPassword"  # noqa: S105 - an action
    MEMBER_REVOKE_SESSIONS = "member.revokeSessions"
    MEMBER_DELETE = "member.delete"
    INVITATION_CREATE = "invitation.create"
    INVITATION_DELETE = "invitation.delete"
    MEMBER_SIGN_IN = "member.signIn"
    MEMBER_SIGN_OUT = "member.signOut"
    MEMBER_REVOKE_SESSION = "member.revokeSession"
    MEMBER_UPDATE = "member.update"
    MEMBER_CHANGE_PASSWORD = "member.changePassword"  # noqa: S105 - an action
    DIGEST_FLUSH = "workflow.flushDigests"
    RUNS_MOVE = "workflow.moveRuns"


class Actor(Struct, frozen=True, kw_only=True):
    """Who made a change; the name is the one at that time."""

    type: ActorType
    id: str | None = None
    name: str | None = None


SERVICE = Actor(type=ActorType.SERVICE)


class Author(Struct, frozen=True, kw_only=True):
    """An actor, and the request by which it acts, if there is one."""

    actor: Actor
    request_id: str | None = None


class AuditTarget(Struct, frozen=True, kw_only=True):
    """What was changed; the id is the one that the API shows."""

    type: TargetType
    id: str
    name: str | None = None


class Change(Struct, frozen=True, kw_only=True):
    """One change; `before` is None if the target is new, `after` if it is gone, both if there is no more to say."""

    action: Action
    target: AuditTarget
    before: Snapshot | None = None
    after: Snapshot | None = None

    @property
    def is_empty(self) -> bool:
        """Whether both sides are given and equal."""
        return self.before is not None and self.after is not None and not any(compare(self.before, self.after))


class Entry(Struct, frozen=True, kw_only=True):
    """A recorded change."""

    environment_id: EnvironmentId
    id: AuditEntryId
    action: Action
    target: AuditTarget
    author: Author
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    created_at: Millis


def compare(before: Snapshot, after: Snapshot) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the members that differ, on both sides; of an object, only those of its members that differ."""
    left: dict[str, Any] = {}
    right: dict[str, Any] = {}
    for name in {**before, **after}:
        old, new = before.get(name, _ABSENT), after.get(name, _ABSENT)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            old, new = compare(old, new)
            if not old and not new:
                continue
        elif _exact(old) == _exact(new):
            continue
        if old is not _ABSENT:
            left[name] = old
        if new is not _ABSENT:
            right[name] = new
    return left, right


def show_side(side: Snapshot) -> dict[str, Any]:
    """Return one side as it is stored: without secrets, long texts cut, and never too large."""
    shown: dict[str, Any] = {name: _shown(value) for name, value in side.items()}
    sizes = {name: len(encode_json(value)) for name, value in shown.items()}
    for name in sorted(sizes, key=lambda one: sizes[one], reverse=True):
        if sum(sizes.values()) <= MAX_SIDE_BYTES:
            break
        shown[name] = f"({sizes[name]} bytes)"
        sizes[name] = 0
    return shown


_ABSENT = object()


def _exact(value: Any) -> bytes | None:
    """A text that is equal exactly if the values are; 1, 1.0 and true are equal in Python and differ in JSON."""
    if value is _ABSENT:
        return None
    return msgspec.json.encode(value, enc_hook=_reveal)


def _reveal(value: Any) -> Any:
    return {"secret": value.reveal()} if isinstance(value, Secret) else plain_value(value)


def _shown(value: Any) -> Any:
    if isinstance(value, Secret):
        return SECRET_TEXT
    if isinstance(value, Mapping):
        return {str(name): _shown(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_shown(one) for one in value]
    if isinstance(value, str) and len(value) > MAX_TEXT:
        return f"{value[:MAX_TEXT]}… ({len(value)} characters)"
    return plain_value(value)
