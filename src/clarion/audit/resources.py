"""What entries of the audit log show of each kind of resource, and in which logs its changes are recorded."""

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, TypeAlias

from msgspec import Struct

from clarion.audit.model import AuditTarget, TargetType
from clarion.clock import Millis, iso_text
from clarion.content.layouts.model import VersionedLayout
from clarion.content.translations.model import AuditedLanguages, AuditedTranslation
from clarion.db.port import Connection
from clarion.environments.model import ApiKey, Environment
from clarion.environments.store import list_environments
from clarion.environments.variables.model import EnvironmentVariable
from clarion.http.masking import mask_url
from clarion.ids import EnvironmentId, id_text
from clarion.integrations.model import Integration
from clarion.jsontext import json_text, plain_value
from clarion.members.model import Link, Member
from clarion.providers.definition.fields import MASK, mask_secrets
from clarion.providers.registry import find_provider
from clarion.schedules.model import TriggerSchedule
from clarion.secret import Secret
from clarion.segments.model import Segment
from clarion.sending.suppressions.model import Suppression, mask_address
from clarion.subscribers.addresses.model import ChannelConnection, mask_auth
from clarion.vocabulary import Role
from clarion.webhooks.model import Endpoint
from clarion.workflows.model import Step, VersionedWorkflow

Audited: TypeAlias = (
    ApiKey
    | AuditedLanguages
    | AuditedTranslation
    | ChannelConnection
    | Endpoint
    | Environment
    | EnvironmentVariable
    | Integration
    | Link
    | Member
    | Segment
    | Suppression
    | TriggerSchedule
    | VersionedLayout
    | VersionedWorkflow
)

_Field: TypeAlias = str | Callable[[Any, EnvironmentId], Any]
"""An attribute, or a function of the resource and of the environment whose log shows it."""


class _Kind(Struct, frozen=True, kw_only=True):
    type: TargetType
    fields: Mapping[str, _Field]
    """What entries have of it, by names of the API; steps and credentials are by their names, so that only changed
    ones differ."""
    id: Callable[[Any], str] = lambda resource: id_text(resource.id)
    name: str | None = "name"
    environment: str | None = "environment_id"
    """The environment whose log has its changes; None: those of all environments of its organization."""


async def list_logs(db: Connection, resource: Audited) -> list[EnvironmentId]:
    """Return the environments whose logs have the changes of a resource."""
    environment = _KINDS[type(resource)].environment
    if environment is not None:
        return [attrgetter(environment)(resource)]
    organization_id = attrgetter("organization_id")(resource)
    return [environment.id for environment in await list_environments(db, organization_id)]


def target_of(resource: Audited) -> AuditTarget:
    kind = _KINDS[type(resource)]
    name = None if kind.name is None else attrgetter(kind.name)(resource)
    return AuditTarget(type=kind.type, id=kind.id(resource), name=name)


def snapshot_of(resource: Audited, environment_id: EnvironmentId) -> dict[str, Any]:
    """Return a resource as the log of an environment shows it."""
    return {
        name: attrgetter(field)(resource) if isinstance(field, str) else field(resource, environment_id)
        for name, field in _KINDS[type(resource)].fields.items()
    }


def _show_steps(workflow: VersionedWorkflow, _: EnvironmentId) -> dict[str, Any]:
    return {step.step_id: _show_step(step) for step in workflow.version.steps}


def _show_step(step: Step) -> dict[str, Any]:
    shown: dict[str, Any] = plain_value(step)
    return {name: value for name, value in shown.items() if name not in ("id", "stepId")}


def _show_preferences(workflow: VersionedWorkflow, _: EnvironmentId) -> Any:
    return plain_value({"workflow": workflow.workflow.default_preference, "user": workflow.workflow.user_preference})


def _show_credentials(integration: Integration, _: EnvironmentId) -> dict[str, Any]:
    masked = mask_secrets(find_provider(integration.provider_id), integration.credentials)
    return {
        name: Secret(json_text(value)) if masked[name] == MASK else value
        for name, value in integration.credentials.items()
    }


def _show_auth(connection: ChannelConnection, _: EnvironmentId) -> dict[str, Any]:
    masked = mask_auth(connection.auth)
    return {name: Secret(value) if masked[name] == MASK else value for name, value in connection.auth.items()}


def _show_roles(person: Member | Link, environment_id: EnvironmentId) -> dict[str, Role | None]:
    """The role in the environment of the log: those in others are not for its readers."""
    roles = person.access.environment_roles
    own = environment_id.hex()
    return {id_text(environment_id): roles[own]} if own in roles else {}


def _show_scopes(key: ApiKey, _: EnvironmentId) -> list[str]:
    return sorted(key.scopes)


def _show_expiry(key: ApiKey, _: EnvironmentId) -> str | None:
    return None if key.expires_at is None else iso_text(key.expires_at)


def _show_targets(schedule: TriggerSchedule, _: EnvironmentId) -> list[Any]:
    """The topics and segments; whom else it names is not written, because entries outlive people."""
    return [
        {name: value for name, value in recipient.items() if name != "exclude"}
        for recipient in schedule.recipients
        if isinstance(recipient, dict)
    ]


def _show_moment(moment: Millis | None) -> str | None:
    return None if moment is None else iso_text(moment)


def _show_password(member: Member, _: EnvironmentId) -> Secret | None:
    return None if member.password is None else Secret(member.password)


def _show_value(variable: EnvironmentVariable, environment_id: EnvironmentId) -> Secret | None:
    """That of the environment of the log, which is never written, secret or not."""
    value = variable.values.get(environment_id)
    return None if value is None else Secret(value)


def _show_address(suppression: Suppression) -> str:
    return f"{suppression.channel}:{mask_address(suppression.channel, suppression.address)}"


_KINDS: dict[type, _Kind] = {
    ApiKey: _Kind(
        type=TargetType.API_KEY,
        fields={"name": "name", "scopes": _show_scopes, "expiresAt": _show_expiry, "hint": "hint"},
    ),
    AuditedLanguages: _Kind(
        type=TargetType.ORGANIZATION,
        id=lambda languages: id_text(languages.organization_id),
        name=None,
        environment=None,
        fields={"defaultLocale": "default_locale", "targetLocales": "target_locales"},
    ),
    AuditedTranslation: _Kind(
        type=TargetType.TRANSLATION,
        id=attrgetter("path"),
        name=None,
        fields={"isTranslationEnabled": "is_enabled", "content": "content"},
    ),
    ChannelConnection: _Kind(
        type=TargetType.CHANNEL_CONNECTION,
        id=attrgetter("identifier"),
        name="identifier",
        fields={
            "identifier": "identifier",
            "integrationIdentifier": "integration.identifier",
            "subscriberId": "subscriber_key",
            "contextKeys": lambda connection, _: list(connection.context_keys),
            "workspace": lambda connection, _: dict(connection.workspace),
            "auth": _show_auth,
        },
    ),
    Endpoint: _Kind(
        type=TargetType.WEBHOOK_ENDPOINT,
        name="description",
        fields={
            "host": lambda endpoint, _: mask_url(endpoint.url),
            "url": lambda endpoint, _: Secret(endpoint.url),
            "description": "description",
            "eventTypes": lambda endpoint, _: sorted(endpoint.events),
            "active": "active",
            "disabledReason": "disabled_reason",
            "secret": "secret",
        },
    ),
    Environment: _Kind(
        type=TargetType.ENVIRONMENT,
        environment="id",
        fields={
            "name": "name",
            "type": "kind",
            "identifier": "identifier",
            "timezone": "timezone",
            "limits": lambda environment, _: plain_value(environment.options.limits),
            "retentionDays": lambda environment, _: plain_value(environment.options.retention_days),
            "subscribersCreateTopics": "options.subscribers_create_topics",
            "tracking": lambda environment, _: plain_value(environment.mail.tracking),
            "replies": lambda environment, _: plain_value(environment.mail.replies),
        },
    ),
    Integration: _Kind(
        type=TargetType.INTEGRATION,
        name="identifier",
        fields={
            "identifier": "identifier",
            "name": "name",
            "providerId": "provider_id",
            "channel": "channel",
            "active": "active",
            "primary": "is_primary",
            "priority": "priority",
            "weight": "weight",
            "rateLimit": "rate_limit",
            "conditions": "conditions",
            "credentials": _show_credentials,
        },
    ),
    Link: _Kind(
        type=TargetType.INVITATION,
        id=attrgetter("public_id"),
        name="email",
        environment=None,
        fields={"email": "email", "role": "access.role", "environmentRoles": _show_roles},
    ),
    Member: _Kind(
        type=TargetType.MEMBER,
        name="email",
        environment=None,
        fields={
            "email": "email",
            "name": "name",
            "role": "access.role",
            "environmentRoles": _show_roles,
            "password": _show_password,
        },
    ),
    TriggerSchedule: _Kind(
        type=TargetType.SCHEDULE,
        fields={
            "identifier": "key",
            "name": "name",
            "workflowId": "workflow",
            "to": _show_targets,
            "people": lambda schedule, _: Secret(json_text(schedule.recipients)),
            "everyone": "is_for_everyone",
            "cron": "timing.cron",
            "rrule": "timing.rrule",
            "timezone": "timing.timezone",
            "fallbackTimezone": "timing.fallback_timezone",
            "from": lambda schedule, _: _show_moment(schedule.timing.starts_at),
            "until": lambda schedule, _: _show_moment(schedule.timing.ends_at),
            "payload": lambda schedule, _: Secret(json_text(schedule.payload)),
            "overrides": lambda schedule, _: Secret(json_text(schedule.overrides)),
            "context": "contexts",
            "catchUp": "catch_up",
            "paused": "paused",
        },
    ),
    Segment: _Kind(
        type=TargetType.SEGMENT,
        fields={"key": "key", "name": "name", "description": "description", "condition": "condition"},
    ),
    Suppression: _Kind(
        type=TargetType.SUPPRESSION,
        id=_show_address,
        name=None,
        fields={"channel": "channel", "reason": "reason"},
    ),
    EnvironmentVariable: _Kind(
        type=TargetType.VARIABLE,
        name="key",
        environment=None,
        fields={"key": "key", "isSecret": "is_secret", "forCredentials": "for_credentials", "value": _show_value},
    ),
    VersionedLayout: _Kind(
        type=TargetType.LAYOUT,
        id=lambda layout: id_text(layout.layout.id),
        name="layout.key",
        environment="layout.environment_id",
        fields={
            "layoutId": "layout.key",
            "name": "layout.name",
            "isDefault": "layout.is_default",
            "isTranslationEnabled": "is_translated",
            "email": lambda layout, _: plain_value(layout.version.source),
        },
    ),
    VersionedWorkflow: _Kind(
        type=TargetType.WORKFLOW,
        id=lambda workflow: id_text(workflow.workflow.id),
        name="workflow.key",
        environment="workflow.environment_id",
        fields={
            "workflowId": "workflow.key",
            "name": "workflow.name",
            "description": "workflow.description",
            "tags": "workflow.tags",
            "active": "workflow.active",
            "severity": "workflow.severity",
            "preferences": _show_preferences,
            "tracking": lambda workflow, _: plain_value(workflow.workflow.tracking),
            "takesReplies": "workflow.takes_replies",
            "payloadSchema": "version.payload_schema",
            "validatePayload": "version.validate_payload",
            "steps": _show_steps,
            "stepOrder": lambda workflow, _: [step.step_id for step in workflow.version.steps],
        },
    ),
}
