"""Accepting triggers: checked, normalised, and durable before anyone is told."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from msgspec import UnsetType

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.errors import Invalid, PayloadInvalid, Problem
from clarion.ids import EnvironmentId, SubscriberKey, TopicKey, TransactionKey, TriggerId, id_text, new_id
from clarion.jsontext import encode_json
from clarion.payloads import find_violations, with_defaults
from clarion.topics.model import Topic
from clarion.topics.store import list_topics_by_key
from clarion.triggers import store
from clarion.triggers.model import (
    MOST_PAYLOAD_BYTES,
    Person,
    Priority,
    Recipients,
    TopicTarget,
    Trigger,
    TriggerState,
    make_transaction_key,
)
from clarion.triggers.recipients import Wanted, people_of, topics_of
from clarion.triggers.wire import TopicRecipientIn
from clarion.workflows.model import Workflow, WorkflowVersion
from clarion.workflows.store import find_workflow, list_versions_by_id


class Outcome(StrEnum):
    PROCESSED = "processed"
    NOT_ACTIVE = "trigger_not_active"
    NO_STEPS = "no_workflow_steps_defined"
    NO_ACTIVE_STEPS = "no_workflow_active_steps_defined"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A trigger as asked for; `wanted` is None for everyone."""

    name: str
    wanted: Wanted | None
    payload: dict[str, Any]
    overrides: dict[str, Any] | None
    transaction: str | None
    actor: Person | None


@dataclass(frozen=True, slots=True)
class Accepted:
    outcome: Outcome
    transaction: TransactionKey
    errors: list[str]


async def accept_trigger(db: Connection, environment_id: EnvironmentId, request: Request, now: Millis) -> Accepted:
    """Store a trigger to be worked on; one whose transaction was seen before is answered alike and not run again."""
    workflow, version = await _get_workflow(db, environment_id, request.name)
    transaction = TransactionKey(request.transaction or make_transaction_key())
    outcome = _outcome(workflow, version)
    payload = _checked_payload(version, request.payload)
    recipients, errors = await _recipients(db, environment_id, request)
    if outcome is Outcome.PROCESSED:
        await store.insert_trigger(
            db,
            Trigger(
                environment_id=environment_id,
                id=TriggerId(new_id(now)),
                transaction_key=transaction,
                workflow_id=workflow.id,
                version_id=version.id,
                payload=payload,
                overrides=request.overrides,
                created_at=now,
                state=TriggerState.QUEUED,
                priority=Priority.CRITICAL if workflow.is_critical else Priority.USUAL,
                recipients=recipients,
                position=None,
            ),
        )
    return Accepted(outcome, transaction, errors)


async def _get_workflow(db: Connection, environment_id: EnvironmentId, name: str) -> tuple[Workflow, WorkflowVersion]:
    workflow = await find_workflow(db, environment_id, name)
    if workflow is None:
        problem = Problem(f"Workflow '{name}' does not exist in this environment", name)
        # The words that existing clients look for.
        raise Invalid({"name": [problem]}, message="workflow_not_found")
    versions = await list_versions_by_id(db, environment_id, [workflow.version_id])
    return workflow, versions[workflow.version_id]


def _outcome(workflow: Workflow, version: WorkflowVersion) -> Outcome:
    if not workflow.active:
        return Outcome.NOT_ACTIVE
    if not version.steps:
        return Outcome.NO_STEPS
    return Outcome.PROCESSED if any(step.active for step in version.steps) else Outcome.NO_ACTIVE_STEPS


def _checked_payload(version: WorkflowVersion, payload: dict[str, Any]) -> dict[str, Any]:
    if len(encode_json(payload)) > MOST_PAYLOAD_BYTES:
        raise Invalid.field("payload", f"must have at most {MOST_PAYLOAD_BYTES} bytes of JSON")
    if version.payload_schema is None or not version.validate_payload:
        return payload
    filled = with_defaults(version.payload_schema, payload)
    violations = find_violations(version.payload_schema, filled)
    if violations:
        raise PayloadInvalid(violations)
    return filled


async def _recipients(db: Connection, environment_id: EnvironmentId, request: Request) -> tuple[Recipients, list[str]]:
    if request.wanted is None:
        return Recipients(everyone=True, actor=request.actor), []
    topics, errors = await _topics(db, environment_id, topics_of(request.wanted))
    return Recipients(people=people_of(request.wanted), topics=topics, actor=request.actor), errors


async def _topics(
    db: Connection, environment_id: EnvironmentId, wanted: Sequence[TopicRecipientIn]
) -> tuple[list[TopicTarget], list[str]]:
    """The topics that exist, and a sentence for each that does not."""
    if not wanted:
        return [], []
    keys = [TopicKey(one.topic_key) for one in wanted]
    known = await list_topics_by_key(db, environment_id, keys)
    targets = [_target(one, known[TopicKey(one.topic_key)]) for one in wanted if TopicKey(one.topic_key) in known]
    missing = dict.fromkeys(key for key in keys if key not in known)
    return targets, [f"Topic '{key}' does not exist in this environment" for key in missing]


def _target(wanted: TopicRecipientIn, topic: Topic) -> TopicTarget:
    excluded = [] if isinstance(wanted.exclude, UnsetType) else [SubscriberKey(str(key)) for key in wanted.exclude]
    return TopicTarget(id=id_text(topic.id), key=topic.key, exclude=excluded)
