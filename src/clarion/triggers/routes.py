"""Events: trigger workflows."""

from collections.abc import Sequence

from msgspec import UNSET

from clarion.bus import Signal
from clarion.errors import Invalid, PayloadInvalid, RequestError
from clarion.http.limits import LARGE_BODY
from clarion.http.operation import Call, Services, operation
from clarion.metrics.measures import Duplicate
from clarion.rate_limits import LimitCategory
from clarion.triggers import actions
from clarion.triggers.model import TriggerOutcome
from clarion.triggers.reading import read_request
from clarion.triggers.wire import BroadcastIn, BulkTriggerIn, TriggerIn, TriggerResultOut
from clarion.vocabulary import Scope


@operation(
    "POST",
    "/v1/events/trigger",
    scope=Scope.EVENTS_WRITE,
    status=201,
    body=TriggerIn,
    body_limit=LARGE_BODY,
    batched=True,
    limit=LimitCategory.TRIGGER,
)
async def trigger_event(calls: Sequence[Call], bodies: Sequence[TriggerIn]) -> list[TriggerResultOut | RequestError]:
    """Trigger a workflow for people, topics or both; the answer comes when the trigger is durable."""
    return [_out_or_refusal(one) for one in await _accept(calls, bodies)]


@operation(
    "POST",
    "/v1/events/trigger/bulk",
    scope=Scope.EVENTS_WRITE,
    status=201,
    body=BulkTriggerIn,
    body_limit=LARGE_BODY,
    limit=LimitCategory.TRIGGER,
    items=lambda body: len(body.events),
)
async def trigger_events(call: Call, body: BulkTriggerIn) -> list[TriggerResultOut]:
    """Trigger up to 100 events; each has its own result, in the order given."""
    return [_out_or_error(one) for one in await _accept([call] * len(body.events), body.events)]


@operation(
    "POST",
    "/v1/events/trigger/broadcast",
    scope=Scope.EVENTS_WRITE,
    status=201,
    body=BroadcastIn,
    body_limit=LARGE_BODY,
    limit=LimitCategory.TRIGGER,
)
async def broadcast_event(call: Call, body: BroadcastIn) -> TriggerResultOut:
    """Trigger a workflow for every subscriber of the environment."""
    (outcome,) = await _accept([call], [body])
    if isinstance(outcome, RequestError):
        raise outcome
    return _out(outcome)


async def _accept(
    calls: Sequence[Call], bodies: Sequence[TriggerIn | BroadcastIn]
) -> list[actions.Accepted | Invalid | PayloadInvalid]:
    """What is wrong with one is its outcome, and harms no other."""
    read = [_read(call, body) for call, body in zip(calls, bodies, strict=True)]
    call = calls[0]
    requests = [one for one in read if isinstance(one, actions.TriggerRequest)]
    accepted = await actions.accept_triggers(call.db, requests, call.now)
    call.after_commit.append(lambda: _announce(call.services, accepted))
    outcomes = iter(accepted.outcomes)
    return [one if isinstance(one, Invalid) else next(outcomes) for one in read]


def _announce(services: Services, accepted: actions.AcceptedTriggers) -> None:
    services.measures.accepted_triggers += accepted.stored
    services.measures.duplicates[Duplicate.TRANSACTION] += accepted.duplicates
    services.bus.publish(Signal.WORK)


def _read(call: Call, body: TriggerIn | BroadcastIn) -> actions.TriggerRequest | Invalid:
    try:
        return read_request(call.environment_id, body, call.trace)
    except Invalid as refusal:
        return refusal


def _out_or_refusal(outcome: actions.Accepted | Invalid | PayloadInvalid) -> TriggerResultOut | RequestError:
    return _out(outcome) if isinstance(outcome, actions.Accepted) else outcome


def _out_or_error(outcome: actions.Accepted | Invalid | PayloadInvalid) -> TriggerResultOut:
    if isinstance(outcome, actions.Accepted):
        return _out(outcome)
    return TriggerResultOut(acknowledged=True, status=TriggerOutcome.ERROR, error=[outcome.message])


def _out(accepted: actions.Accepted) -> TriggerResultOut:
    return TriggerResultOut(
        acknowledged=True,
        status=accepted.outcome,
        transaction_id=accepted.transaction,
        error=accepted.errors or UNSET,
    )
