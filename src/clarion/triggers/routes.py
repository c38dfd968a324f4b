"""Events: trigger workflows, and cancel triggers."""

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from clarion.bus import Signal
from clarion.contexts.actions import data_warning
from clarion.engine.cancel import cancel_transaction
from clarion.errors import Forbidden, Invalid, PayloadInvalid, RequestError
from clarion.http.input.unknown import MAX_WARNINGS, InputWarning
from clarion.http.limits import LARGE_BODY
from clarion.http.operation import Call, operation
from clarion.http.services import Services
from clarion.ids import TransactionKey
from clarion.monitoring.metrics import Duplicate
from clarion.settings.rate_limits import LimitCategory
from clarion.triggers import actions, requests
from clarion.triggers.model import TriggerOutcome
from clarion.triggers.wire import BroadcastIn, BulkTriggerIn, TriggerIn, TriggerResultOut
from clarion.vocabulary import Scope

Refusal: TypeAlias = Forbidden | Invalid | PayloadInvalid

_NOT_STORED = (
    "has fields of a person, which hold for this trigger alone and are not stored: the API key lacks the scope "
    f"'{Scope.SUBSCRIBERS_WRITE}'"
)

_DATA_NOT_STORED = (
    "has data, which is not stored, and holds for this trigger alone if the context does not exist: the API key lacks "
    f"the scope '{Scope.CONTEXTS_WRITE}'"
)


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
    """Trigger a workflow for people, topics and segments; the answer comes when the trigger is durable."""
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
    paths = [f"events.{number}." for number in range(len(body.events))]
    return [_out_or_error(one) for one in await _accept([call] * len(body.events), body.events, paths)]


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


@operation("DELETE", "/v1/events/trigger/{transactionId}", scope=Scope.EVENTS_WRITE)
async def cancel_event(call: Call, transaction_key: TransactionKey) -> bool:
    """Cancel what a trigger has not done yet; returns whether there was anything."""
    return await cancel_transaction(call.db, call.environment_id, transaction_key, call.now)


async def _accept(
    calls: Sequence[Call], bodies: Sequence[TriggerIn | BroadcastIn], paths: Sequence[str] | None = None
) -> list[actions.Accepted | Refusal]:
    """What is wrong with one is its outcome, and harms no other; `paths` are where the events stand in a bulk."""
    paths = paths or [""] * len(bodies)
    read = [_read(call, body, path) for call, body, path in zip(calls, bodies, paths, strict=True)]
    call = calls[0]
    asked = [one for one in read if isinstance(one, requests.TriggerRequest)]
    accepted = await actions.accept_triggers(call.db, asked, call.now)
    call.after_commit.append(lambda: _announce(call.services, accepted))
    remaining = iter(accepted.outcomes)
    outcomes = [next(remaining) if isinstance(one, requests.TriggerRequest) else one for one in read]
    if accepted.duplicates:
        _warn_of_duplicates(calls, outcomes, paths)
    for outcome, request, path in zip(outcomes, calls, paths, strict=True):
        if isinstance(outcome, actions.Accepted) and outcome.unused_data:
            warnings = (data_warning(kind) for kind in outcome.unused_data)
            request.warnings += [InputWarning(path + where, message) for where, message in warnings]
    return outcomes


def _warn_of_duplicates(
    calls: Sequence[Call], outcomes: Sequence[actions.Accepted | Refusal], paths: Sequence[str]
) -> None:
    for call, outcome, path in zip(calls, outcomes, paths, strict=True):
        if isinstance(outcome, actions.Accepted) and outcome.is_duplicate:
            message = f"'{outcome.transaction}' was seen before: this trigger is not run again"
            call.warnings.append(InputWarning(f"{path}transactionId", message))


def _announce(services: Services, accepted: actions.AcceptedTriggers) -> None:
    services.measures.accepted_triggers += accepted.stored
    services.measures.duplicates[Duplicate.TRANSACTION] += accepted.duplicates
    services.bus.publish(Signal.WORK)


def _read(call: Call, body: TriggerIn | BroadcastIn, path: str) -> requests.TriggerRequest | Refusal:
    warnings: list[InputWarning] = []
    try:
        request = requests.read_request(call.environment_id, body, warnings, call.trace)
        requests.check_segments_scope(call.caller, request)
    except (Forbidden, Invalid) as refusal:
        return refusal
    described = request.list_described()
    if described and not call.caller.has_scope(Scope.SUBSCRIBERS_WRITE):
        request = replace(request, keeps_fields=True)
        warnings += [InputWarning(where, _NOT_STORED) for where in described]
    if request.contexts and not call.caller.has_scope(Scope.CONTEXTS_WRITE):
        warnings += [InputWarning("context", _DATA_NOT_STORED)] if request.has_context_data else []
        request = replace(request, keeps_contexts=True)
    if warnings or call.warnings:
        call.warnings += [InputWarning(f"{path}{one.path}", one.message) for one in warnings]
        own = [one for one in call.warnings if one.path.startswith(path)][:MAX_WARNINGS]
        request = replace(request, warnings=[one.text.removeprefix(path) for one in own])
    return request


def _out_or_refusal(outcome: actions.Accepted | Refusal) -> TriggerResultOut | RequestError:
    return _out(outcome) if isinstance(outcome, actions.Accepted) else outcome


def _out_or_error(outcome: actions.Accepted | Refusal) -> TriggerResultOut:
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
