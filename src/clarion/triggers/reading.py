"""Reads the body of a trigger."""

from clarion.http.input_warnings import InputWarning
from clarion.ids import EnvironmentId
from clarion.monitoring.traces.context import TraceContext
from clarion.triggers.actions import TriggerRequest
from clarion.triggers.contexts import read_contexts
from clarion.triggers.recipients import read_actor, read_recipients
from clarion.triggers.wire import BroadcastIn, TriggerIn


def read_request(
    environment_id: EnvironmentId,
    body: TriggerIn | BroadcastIn,
    warnings: list[InputWarning],
    trace: TraceContext | None = None,
) -> TriggerRequest:
    """The trigger that is asked for; raises Invalid with every bad entry. Unknown members of people are warned of."""
    return TriggerRequest(
        environment_id=environment_id,
        name=body.name,
        wanted=read_recipients(body.to, warnings) if isinstance(body, TriggerIn) else None,
        payload=body.payload or {},
        overrides=body.overrides,
        transaction=body.transaction_id,
        actor=read_actor(body.actor, warnings),
        contexts=read_contexts(body.context) if body.context else None,
        trace=trace,
    )
