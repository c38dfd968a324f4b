"""Explains what a person got of a transaction, or of the newest triggers of a workflow, with or without a run."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from clarion.clock import Millis, iso_text
from clarion.db.port import Connection
from clarion.explain.absent import CREATE_PERSON, ExplainRequest, explain_absence, is_named, unknown_text
from clarion.explain.model import (
    ChannelResult,
    Decision,
    DecisionKind,
    Explanation,
    OtherTrigger,
    Outcome,
    Verdict,
    day_text,
    derived,
    moment_text,
)
from clarion.explain.run import explain_run, for_channel
from clarion.explain.trigger_store import (
    LOOKED_AT,
    TopicMembership,
    find_deleted_workflow,
    find_erasure,
    find_near_key,
    list_memberships,
    list_recent_triggers,
    list_runs_of_triggers,
    topic_id_of,
)
from clarion.ids import EnvironmentId, NotificationId, SubscriberKey, TopicId, TransactionKey, TriggerId, WorkflowKey
from clarion.subscribers.store import find_subscriber
from clarion.triggers.model import SegmentTarget, TopicTarget, Trigger
from clarion.triggers.store import find_trigger_by_transaction
from clarion.vocabulary import Channel
from clarion.workflows.model import Workflow
from clarion.workflows.store import find_workflow, get_version

_MADE_KEY = "txn_"
_MADE_DIGITS = 12
_MAX_OTHERS = 10


async def make_request(
    db: Connection,
    environment_id: EnvironmentId,
    key: SubscriberKey,
    *,
    channel: Channel | None,
    now: Millis,
    horizon: Millis,
) -> ExplainRequest:
    """Look up who is asked about."""
    person = await find_subscriber(db, environment_id, key)
    return ExplainRequest(
        environment_id=environment_id,
        key=key,
        person=person,
        channel=channel,
        now=now,
        horizon=horizon,
        erased_at=await find_erasure(db, environment_id, key),
        near_key=None if person is not None else await find_near_key(db, environment_id, key),
    )


async def explain_transaction(db: Connection, request: ExplainRequest, transaction_key: TransactionKey) -> Explanation:
    """Explain what a person got of one trigger."""
    trigger = await find_trigger_by_transaction(db, request.environment_id, transaction_key)
    if trigger is None:
        return _explain_unknown(request, transaction_key)
    runs = await _list_runs(db, request, [trigger])
    return _for_channel(await _explain_trigger(db, request, trigger, runs), request)


async def explain_workflow(db: Connection, request: ExplainRequest, reference: str) -> Explanation:
    """Explain what a person got of the newest trigger of a workflow that may be for them."""
    workflow = await find_workflow(db, request.environment_id, reference)
    workflow = workflow or await find_deleted_workflow(db, request.environment_id, WorkflowKey(reference))
    if workflow is None:
        return _without_workflow(request, reference)
    person_id = None if request.person is None else request.person.id
    triggers = await list_recent_triggers(db, request.environment_id, workflow.id, person_id, request.now)
    runs = await _list_runs(db, request, triggers)
    meant = await _list_meant(db, request, triggers, runs)
    if not meant:
        explanation = await _explain_nothing(db, request, workflow, triggers)
    else:
        explanation = await _explain_trigger(db, request, meant[0], runs)
        explanation = replace(explanation, others=[_other(one, runs) for one in meant[1:][:_MAX_OTHERS]])
    decisions = [*explanation.decisions, *_list_states(request, workflow)]
    return _for_channel(replace(explanation, decisions=decisions), request)


def _for_channel(explanation: Explanation, request: ExplainRequest) -> Explanation:
    return explanation if request.channel is None else for_channel(explanation, request.channel, request.now)


async def _list_runs(
    db: Connection, request: ExplainRequest, triggers: Sequence[Trigger]
) -> Mapping[TriggerId, NotificationId]:
    if request.person is None:
        return {}
    return await list_runs_of_triggers(db, request.environment_id, [one.id for one in triggers], request.person.id)


async def _explain_trigger(
    db: Connection, request: ExplainRequest, trigger: Trigger, runs: Mapping[TriggerId, NotificationId]
) -> Explanation:
    if trigger.id in runs:
        return await explain_run(db, request.environment_id, runs[trigger.id], request.now)
    return await explain_absence(db, request, trigger)


async def _list_meant(
    db: Connection, request: ExplainRequest, triggers: Sequence[Trigger], runs: Mapping[TriggerId, NotificationId]
) -> list[Trigger]:
    """The triggers that have to do with the person; else those for topics and segments, which may be for them."""
    topic_ids = [topic_id_of(topic) for one in triggers for topic in one.recipients.topics]
    joined: Mapping[TopicId, TopicMembership] = {}
    if request.person is not None:
        joined = await list_memberships(db, request.environment_id, topic_ids, request.person.id)
    concerning = [one for one in triggers if one.id in runs or _concerns(one, request.key, joined)]
    return concerning or [one for one in triggers if one.recipients.is_fan_out]


def _concerns(trigger: Trigger, key: SubscriberKey, joined: Mapping[TopicId, TopicMembership]) -> bool:
    wanted = trigger.recipients
    targets: list[TopicTarget | SegmentTarget] = [*wanted.topics, *wanted.segments]
    is_actor = wanted.actor is not None and wanted.actor.key == key and bool(targets)
    if is_named(trigger, key) or wanted.everyone or is_actor:
        return True
    if any(key in one.exclude for one in targets):
        return True
    return any(topic_id_of(topic) in joined for topic in wanted.topics)


def _other(trigger: Trigger, runs: Mapping[TriggerId, NotificationId]) -> OtherTrigger:
    return OtherTrigger(
        transaction_key=trigger.transaction_key,
        notification_id=runs.get(trigger.id),
        triggered_at=trigger.created_at,
    )


def _list_states(request: ExplainRequest, workflow: Workflow) -> list[Decision]:
    """What is the matter with the workflow now, so that new triggers do nothing."""
    kind, at = DecisionKind.WORKFLOW, request.now
    values: dict[str, str] = {"workflowId": workflow.key}
    if workflow.deleted_at is not None:
        text = f"The workflow '{workflow.name}' was deleted on {moment_text(workflow.deleted_at, request.now)}."
        values["deletedAt"] = iso_text(workflow.deleted_at)
        return [derived(at, kind, Verdict.STOPPED, text, values, "Create the workflow again.")]
    if not workflow.active:
        text = (
            f"The workflow '{workflow.name}' is not active now: triggers are answered with trigger_not_active, and "
            "are not stored. Since when is in the audit log."
        )
        return [derived(at, kind, Verdict.STOPPED, text, values, "Activate the workflow.")]
    return []


async def _explain_nothing(
    db: Connection, request: ExplainRequest, workflow: Workflow, triggers: Sequence[Trigger]
) -> Explanation:
    """No trigger of the workflow has anything to do with the person."""
    since = max(request.horizon, workflow.created_at)
    text = (
        f"None of the newest triggers of the workflow '{workflow.name}', and none of the last {LOOKED_AT} runs of "
        f"{request.name}, is one of the workflow for {request.name}. The workflow was created on "
        f"{day_text(workflow.created_at, request.now)}; runs are kept since {day_text(request.horizon, request.now)}."
    )
    values: dict[str, object] = {"workflowId": workflow.key, "lookedSince": iso_text(Millis(since))}
    if triggers:
        last = triggers[0]
        text += f" The last trigger, on {moment_text(last.created_at, request.now)}, names other people."
        values |= {"lastTransactionId": last.transaction_key, "lastTriggeredAt": iso_text(last.created_at)}
    remedy = "Trigger the workflow for the person. A trigger that was refused (422, 400) is not stored."
    # Triggers from before the horizon may have been for the person.
    is_known = workflow.created_at >= request.horizon
    verdict, outcome = (Verdict.STOPPED, Outcome.SKIPPED) if is_known else (Verdict.UNKNOWN, Outcome.UNKNOWN)
    reason = derived(None, DecisionKind.RECIPIENT, verdict, text, values, remedy)
    version = await get_version(db, workflow)
    return Explanation(
        subscriber_key=request.key,
        workflow_key=workflow.key,
        channels=dict.fromkeys(version.channels, ChannelResult(outcome, text)),
        decisions=[*_list_unknown_person(request), reason],
    )


def _list_unknown_person(request: ExplainRequest) -> list[Decision]:
    if request.person is not None:
        return []
    values, text, at = {"subscriberId": request.key}, unknown_text(request), request.erased_at
    if at is not None:
        text = f"'{request.key}' was erased on {moment_text(at, request.now)}, with everything that was stored of them."
    return [derived(at, DecisionKind.RECIPIENT, Verdict.STOPPED, text, values, CREATE_PERSON)]


def _without_workflow(request: ExplainRequest, reference: str) -> Explanation:
    text = f"There is no workflow '{reference}' in this environment, and none was deleted: triggers of it are refused."
    remedy = "Create the workflow, or promote it from the environment that has it."
    values = {"workflowId": reference}
    reason = derived(None, DecisionKind.WORKFLOW, Verdict.STOPPED, text, values, remedy)
    return Explanation(
        subscriber_key=request.key,
        workflow_key=WorkflowKey(reference),
        channels=_only_channel(request, Outcome.SKIPPED, text),
        decisions=[*_list_unknown_person(request), reason],
    )


def _explain_unknown(request: ExplainRequest, transaction_key: TransactionKey) -> Explanation:
    """A transaction that is not stored: it was refused, or is deleted."""
    made_at, kept = _find_moment(transaction_key), day_text(request.horizon, request.now)
    head = f"No trigger with the transactionId '{transaction_key}' is stored."
    if made_at is not None and made_at < request.horizon:
        text = f"{head} It is from {day_text(made_at, request.now)}; runs from before {kept} are deleted."
    else:
        text = (
            f"{head} What is refused is not stored, so that it is not known whether there was one. It may have been "
            "refused (such as for an unknown workflow, or a payload that its schema refuses), answered with "
            f"trigger_not_active, or sent to another environment; or it is from before {kept} and was deleted."
        )
    values = {"transactionId": transaction_key, "keptSince": iso_text(request.horizon)}
    remedy = (
        "The answer to the trigger said why it was refused; ask with workflowId to see the triggers that there are."
    )
    reason = derived(None, DecisionKind.RECIPIENT, Verdict.UNKNOWN, text, values, remedy)
    return Explanation(
        subscriber_key=request.key,
        workflow_key=None,
        transaction_key=transaction_key,
        channels=_only_channel(request, Outcome.UNKNOWN, text),
        decisions=[*_list_unknown_person(request), reason],
    )


def _only_channel(request: ExplainRequest, outcome: Outcome, text: str) -> dict[Channel, ChannelResult]:
    return {} if request.channel is None else {request.channel: ChannelResult(outcome, text)}


def _find_moment(transaction_key: TransactionKey) -> Millis | None:
    """When a transaction key was made, if Clarion made it."""
    digits = transaction_key.removeprefix(_MADE_KEY)[:_MADE_DIGITS]
    if not transaction_key.startswith(_MADE_KEY) or len(transaction_key) != len(_MADE_KEY) + 2 * _MADE_DIGITS + 4:
        return None
    try:
        return Millis(int(digits, 16))
    except ValueError:
        return None
