"""Events: tell Clarion what happened, so that runs that wait for it go on."""

from msgspec import UnsetType

from clarion.bus import Signal
from clarion.errors import Invalid
from clarion.http.operation import Call, operation
from clarion.ids import TopicKey
from clarion.settings.rate_limits import LimitCategory
from clarion.vocabulary import Scope
from clarion.waits import actions
from clarion.waits.wire import MAX_DATA_BYTES, EmitIn, EmittedOut


@operation(
    "POST",
    "/v1/events/emit",
    scope=Scope.EVENTS_WRITE,
    status=201,
    body=EmitIn,
    limit=LimitCategory.TRIGGER,
    items=lambda body: len(body.to) if isinstance(body.to, list) else 1,
)
async def emit_event(call: Call, body: EmitIn) -> EmittedOut:
    """Tell what happened to people, to the members of a topic or to everyone: steps that wait for it go on.

    The answer comes when the event is durable; the steps go on right after.
    """
    targets = [not isinstance(body.to, UnsetType), not isinstance(body.topic, UnsetType), body.everyone]
    if sum(targets) != 1:
        raise Invalid.field("to", "say to whom it happened: give exactly one of `to`, `topic` and `everyone`")
    if body.data_bytes > MAX_DATA_BYTES:
        raise Invalid.field("data", f"must not have more than {MAX_DATA_BYTES} bytes of JSON")
    emitted = await _emit(call, body)
    call.after_commit.append(lambda: call.services.bus.publish(Signal.WORK))
    return EmittedOut.of(emitted)


async def _emit(call: Call, body: EmitIn) -> actions.Emitted:
    happened = body.occurrence(call.environment_id)
    if body.everyone:
        return await actions.emit_to_everyone(call.db, happened, call.now)
    if not isinstance(body.topic, UnsetType):
        return await actions.emit_to_topic(call.db, happened, TopicKey(str(body.topic)), call.now)
    return await actions.emit_to_people(call.db, happened, body.people, call.now)
