"""Accepting triggers: they are checked, normalised and stored before the response."""

from collections.abc import Container, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.contexts.actions import (
    ExistingContexts,
    data_warning,
    find_existing,
    insert_missing,
    list_unused_data,
)
from clarion.contexts.model import Contexts
from clarion.db.port import Connection
from clarion.errors import Invalid, PayloadInvalid, Problem
from clarion.http.input.unknown import InputWarning
from clarion.ids import (
    EnvironmentId,
    SegmentKey,
    SubscriberKey,
    TopicKey,
    TransactionKey,
    TriggerId,
    WorkflowVersionId,
    id_text,
    new_id,
    new_id_for,
)
from clarion.jobs.model import Priority
from clarion.jsontext import encode_json
from clarion.segments.model import Segment
from clarion.segments.store import list_segments_by_key
from clarion.subscribers.store import upsert_subscriber
from clarion.topics.model import Topic
from clarion.topics.store import list_topics_by_key
from clarion.triggers import store
from clarion.triggers.attachments import (
    Files,
    has_attachments,
    insert_files,
    read_attached_files,
    take_files,
    take_payload_files,
    without_files,
)
from clarion.triggers.model import (
    MAX_PAYLOAD_BYTES,
    MAX_SEND_AHEAD,
    Recipients,
    SegmentTarget,
    TopicTarget,
    Trigger,
    TriggerOutcome,
    TriggerState,
    make_transaction_key,
)
from clarion.triggers.recipients import excluded_of, people_of, segments_of, topics_of
from clarion.triggers.requests import TriggerRequest
from clarion.triggers.transactions import note_repeats
from clarion.work import WorkBudget, spending
from clarion.workflows.model import Workflow, WorkflowVersion
from clarion.workflows.payloads import check_payload
from clarion.workflows.schema_cost import PayloadTooCostly, SchemaProblem
from clarion.workflows.store import list_versions_by_id, list_workflows_by_reference


class Accepted(Struct, frozen=True):
    outcome: TriggerOutcome
    transaction: TransactionKey
    errors: list[str]
    trigger: Trigger | None
    """None where there is nothing to be worked on."""
    is_duplicate: bool = False
    """Whether its transaction was seen before."""
    unused_data: Sequence[str] = ()
    """The types of contexts that exist with other data than the trigger gives, which is not used."""


Outcome: TypeAlias = Accepted | Invalid | PayloadInvalid


class AcceptedTriggers(Struct, frozen=True):
    outcomes: list[Outcome]
    """Of each request, in their order."""
    stored: int
    duplicates: int
    """Those whose transaction was seen before."""


async def accept_triggers(db: Connection, requests: Sequence[TriggerRequest], now: Millis) -> AcceptedTriggers:
    """Store triggers to be worked on; returns the outcome of each.

    One whose transaction was seen before is answered alike and not run again.
    """
    known = await _look_up(db, requests)
    outcomes: list[Outcome] = [_accept_one(request, known, now) for request in requests]
    outcomes, existing = await _compare_contexts(db, outcomes)
    triggers = [one.trigger for one in outcomes if isinstance(one, Accepted) and one.trigger is not None]
    stored = await store.insert_triggers(db, await _store_files(db, triggers, now))
    repeated = await _list_repeated(db, triggers) if stored < len(triggers) else []
    await note_repeats(db, repeated, now)
    await _update_people(db, triggers, now)
    await _insert_contexts(db, triggers, repeated, existing, now)
    if repeated:
        outcomes = _mark_duplicates(outcomes, {one.id for one in repeated})
    return AcceptedTriggers(outcomes, stored=stored, duplicates=len(repeated))


async def check_trigger(db: Connection, request: TriggerRequest, now: Millis) -> Outcome:
    """What would come of a trigger; nothing is stored."""
    return _accept_one(request, await _look_up(db, [request]), now)


async def _compare_contexts(
    db: Connection, outcomes: list[Outcome]
) -> tuple[list[Outcome], dict[EnvironmentId, ExistingContexts]]:
    """Note which triggers give data of contexts that exist with other data; returns also the contexts that exist."""
    given: dict[EnvironmentId, list[Contexts]] = {}
    for outcome in outcomes:
        trigger = outcome.trigger if isinstance(outcome, Accepted) else None
        if trigger is not None and trigger.contexts:
            given.setdefault(trigger.environment_id, []).append(trigger.contexts)
    if not given:
        return outcomes, {}
    existing = {environment: await find_existing(db, environment, contexts) for environment, contexts in given.items()}
    return [_compare(one, existing) for one in outcomes], existing


def _compare(outcome: Outcome, existing: Mapping[EnvironmentId, ExistingContexts]) -> Outcome:
    trigger = outcome.trigger if isinstance(outcome, Accepted) else None
    if not isinstance(outcome, Accepted) or trigger is None or not trigger.contexts:
        return outcome
    unused = list_unused_data(trigger.contexts, existing[trigger.environment_id])
    if not unused:
        return outcome
    warnings = [*trigger.warnings, *(InputWarning(*data_warning(kind)).text for kind in unused)]
    return replace(outcome, unused_data=unused, trigger=replace(trigger, warnings=warnings))


async def _insert_contexts(
    db: Connection,
    triggers: Sequence[Trigger],
    repeated: Sequence[Trigger],
    existing: Mapping[EnvironmentId, ExistingContexts],
    now: Millis,
) -> None:
    """Store the contexts that triggers name and that do not exist; a trigger that is not run again makes none."""
    left_out = {one.id for one in repeated}
    for environment_id, known in existing.items():
        given = [
            trigger.contexts
            for trigger in triggers
            if trigger.contexts
            and trigger.environment_id == environment_id
            and not trigger.keeps_contexts
            and trigger.id not in left_out
        ]
        await insert_missing(db, environment_id, given, known, now)


async def _list_repeated(db: Connection, triggers: Sequence[Trigger]) -> list[Trigger]:
    """Those that were not inserted, because their transaction was seen before."""
    stored = {one.id for one in await _list_inserted(db, triggers)}
    return [one for one in triggers if one.id not in stored]


def _mark_duplicates(outcomes: Sequence[Outcome], repeated: Container[TriggerId]) -> list[Outcome]:
    return [
        replace(outcome, is_duplicate=True)
        if isinstance(outcome, Accepted) and outcome.trigger is not None and outcome.trigger.id in repeated
        else outcome
        for outcome in outcomes
    ]


async def _store_files(db: Connection, triggers: list[Trigger], now: Millis) -> list[Trigger]:
    """Store the files that triggers attach, each once; returns the triggers without them."""
    files: dict[tuple[EnvironmentId, TriggerId], Files] = {}
    stored = []
    for trigger in triggers:
        if "attachments" in trigger.payload or (trigger.overrides and has_attachments(trigger.overrides)):
            payload, attached = take_payload_files(trigger.payload)
            overrides, others = take_files(trigger.overrides or {})
            files[trigger.environment_id, trigger.id] = attached | others
            stored.append(
                replace(trigger, payload=payload, overrides=overrides if trigger.overrides is not None else None)
            )
        else:
            stored.append(trigger)
    if files:
        await insert_files(db, files, now)
    return stored


async def _update_people(db: Connection, triggers: Sequence[Trigger], now: Millis) -> None:
    """Write what triggers say of their recipients and actors; later changes of these people then win.

    A trigger whose transaction was seen before changes nothing.
    """
    saying = [one for one in triggers if one.recipients.has_fields and not one.recipients.keeps_fields]
    if not saying:
        return
    changes: dict[tuple[EnvironmentId, SubscriberKey], dict[str, Any]] = {}
    for trigger in await _list_inserted(db, saying):
        for person in trigger.recipients.named:
            if person.fields:
                changes.setdefault((trigger.environment_id, person.key), {}).update(person.fields)
    # In one order, so that two batches that change the same people do not wait for each other.
    for (environment_id, key), fields in sorted(changes.items()):
        await upsert_subscriber(db, environment_id, key, fields, now)


async def _list_inserted(db: Connection, triggers: Sequence[Trigger]) -> list[Trigger]:
    by_environment: dict[EnvironmentId, list[TriggerId]] = {}
    for trigger in triggers:
        by_environment.setdefault(trigger.environment_id, []).append(trigger.id)
    stored = {
        trigger_id
        for environment_id, ids in by_environment.items()
        for trigger_id in await store.list_triggers_by_id(db, environment_id, ids)
    }
    return [one for one in triggers if one.id in stored]


class _Lookups(Struct):
    """What the requests of one moment name, by environment."""

    workflows: dict[tuple[EnvironmentId, str], Workflow] = {}
    versions: dict[WorkflowVersionId, WorkflowVersion] = {}
    topics: dict[tuple[EnvironmentId, TopicKey], Topic] = {}
    segments: dict[tuple[EnvironmentId, SegmentKey], Segment] = {}
    budgets: dict[EnvironmentId, WorkBudget] = {}
    """For checking payloads: requests that come at the same moment share one."""

    def budget_of(self, environment_id: EnvironmentId) -> WorkBudget:
        budget = self.budgets.get(environment_id)
        if budget is None:
            budget = self.budgets[environment_id] = WorkBudget()
        return budget


async def _look_up(db: Connection, requests: Sequence[TriggerRequest]) -> _Lookups:
    known = _Lookups()
    by_environment: dict[EnvironmentId, list[TriggerRequest]] = {}
    for request in requests:
        by_environment.setdefault(request.environment_id, []).append(request)
    for environment_id, own in by_environment.items():
        workflows = await list_workflows_by_reference(db, environment_id, [one.name for one in own])
        versions = await list_versions_by_id(db, environment_id, [one.version_id for one in workflows.values()])
        keys = [TopicKey(topic.topic_key) for one in own for topic in topics_of(one.wanted or [])]
        topics = await list_topics_by_key(db, environment_id, list(dict.fromkeys(keys))) if keys else {}
        known.workflows |= {(environment_id, name): workflow for name, workflow in workflows.items()}
        known.topics |= {(environment_id, key): topic for key, topic in topics.items()}
        wanted = {SegmentKey(segment.segment_key) for one in own for segment in segments_of(one.wanted or [])}
        segments = await list_segments_by_key(db, environment_id, list(wanted))
        known.segments |= {(environment_id, key): segment for key, segment in segments.items()}
        known.versions |= versions
    return known


def _accept_one(request: TriggerRequest, known: _Lookups, now: Millis) -> Accepted | Invalid | PayloadInvalid:
    workflow = known.workflows.get((request.environment_id, request.name))
    if workflow is None:
        problem = Problem(f"Workflow '{request.name}' does not exist in this environment", request.name)
        # The words that existing clients look for.
        return Invalid({"name": [problem]}, message="workflow_not_found")
    version = known.versions[workflow.version_id]
    try:
        begins_at = _check_moments(request, now)
        payload = _checked_payload(version, request.payload, known.budget_of(request.environment_id))
        payload, overrides = read_attached_files(payload, request.overrides)
        recipients, errors = _recipients(request, known)
    except (Invalid, PayloadInvalid) as refusal:
        return refusal
    transaction = TransactionKey(request.transaction or make_transaction_key(now))
    outcome = decide_outcome(workflow, version)
    if outcome is not TriggerOutcome.PROCESSED:
        return Accepted(outcome, transaction, errors, None)
    lane = recipients.find_lane()
    is_later = begins_at > now
    trigger = Trigger(
        environment_id=request.environment_id,
        id=TriggerId(new_id_for(begins_at, now) if is_later else new_id(now)),
        transaction_key=transaction,
        workflow_id=workflow.id,
        version_id=version.id,
        payload=payload,
        overrides=overrides,
        contexts=request.contexts,
        keeps_contexts=request.keeps_contexts,
        created_at=begins_at,
        state=TriggerState.SCHEDULED if is_later else recipients.first_state,
        priority=priority_of(workflow),
        lane=lane or 0,
        recipients=recipients,
        position=None,
        accepted_at=now if is_later else None,
        expires_at=request.expires_at,
        trace=request.trace,
        warnings=request.warnings,
        caused_by=request.caused_by,
    )
    return Accepted(outcome, transaction, errors, trigger)


def _check_moments(request: TriggerRequest, now: Millis) -> Millis:
    """Return when the runs begin."""
    begins_at = max(request.send_at or now, now)
    if begins_at > now + MAX_SEND_AHEAD:
        raise Invalid.field("sendAt", "must be at most a year ahead")
    if request.expires_at is not None and request.expires_at <= begins_at:
        message = "must be later than sendAt" if begins_at > now else "must be in the future"
        raise Invalid.field("expiresAt", message)
    return begins_at


def decide_outcome(workflow: Workflow, version: WorkflowVersion) -> TriggerOutcome:
    """Return what comes of a trigger of the workflow."""
    if not workflow.active:
        return TriggerOutcome.NOT_ACTIVE
    if not version.steps:
        return TriggerOutcome.NO_STEPS
    return TriggerOutcome.PROCESSED if any(step.active for step in version.steps) else TriggerOutcome.NO_ACTIVE_STEPS


def priority_of(workflow: Workflow) -> Priority:
    return Priority.CRITICAL if workflow.is_critical else Priority.USUAL


def _checked_payload(version: WorkflowVersion, payload: dict[str, Any], budget: WorkBudget) -> dict[str, Any]:
    if len(encode_json(without_files(payload))) > MAX_PAYLOAD_BYTES:
        raise Invalid.field("payload", f"must have at most {MAX_PAYLOAD_BYTES} bytes of JSON, files not counted")
    if version.payload_schema is None or not version.validate_payload:
        return payload
    try:
        with spending(budget):
            filled, violations = check_payload(version.payload_schema, payload)
    except PayloadTooCostly as problem:
        raise Invalid.field("payload", str(problem)) from None
    except SchemaProblem as problem:
        # A schema that was saved before the limits.
        message = f"cannot be checked: the payload schema of the workflow {problem}; save the workflow with another one"
        raise Invalid.field("payload", message) from None
    if violations:
        raise PayloadInvalid(violations)
    return filled


def _recipients(request: TriggerRequest, known: _Lookups) -> tuple[Recipients, list[str]]:
    """Whom the trigger is for, and a sentence for each topic that does not exist."""
    if request.wanted is None:
        everyone = Recipients(everyone=True, zone=request.zone, actor=request.actor, keeps_fields=request.keeps_fields)
        return everyone, []
    targets, missing = [], list[str]()
    for wanted in topics_of(request.wanted):
        topic = known.topics.get((request.environment_id, TopicKey(wanted.topic_key)))
        if topic is None:
            missing += [] if wanted.topic_key in missing else [wanted.topic_key]
        else:
            targets.append(TopicTarget(id=id_text(topic.id), key=topic.key, exclude=excluded_of(wanted)))
    recipients = Recipients(
        people=people_of(request.wanted),
        topics=targets,
        segments=_list_segments(request, known),
        zone=request.zone,
        actor=request.actor,
        keeps_fields=request.keeps_fields,
        missing_topics=missing,
    )
    return recipients, [f"Topic '{key}' does not exist in this environment" for key in missing]


def _list_segments(request: TriggerRequest, known: _Lookups) -> list[SegmentTarget]:
    """The segments with their conditions of now; raises Invalid for one that does not exist."""
    targets = []
    for wanted in segments_of(request.wanted or []):
        segment = known.segments.get((request.environment_id, SegmentKey(wanted.segment_key)))
        if segment is None:
            message = f"names the segment '{wanted.segment_key}', which does not exist in this environment"
            raise Invalid.field("to", message, wanted.segment_key)
        targets.append(SegmentTarget(key=segment.key, condition=segment.condition, exclude=excluded_of(wanted)))
    return targets
