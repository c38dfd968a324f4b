"""Digest: the events of one person that come within a window are gathered into one run."""

from hashlib import blake2b
from typing import Any

from clarion.clock import Millis
from clarion.contexts.model import keys_of
from clarion.engine.digest_events import JoinedEvent, make_event, make_sort_key
from clarion.engine.digest_windows import DigestWindow, WindowIdentity
from clarion.engine.digests import Extension, Leader
from clarion.engine.masking import show_key_value
from clarion.engine.records import HIDES_OWN
from clarion.engine.steps.decision import Done, Ended, Failed, Merged, StepContext, StepOutcome, Waiting
from clarion.engine.steps.waiting import extend
from clarion.ids import NotificationId, id_text
from clarion.jobs.details import DetailCode
from clarion.jsontext import encode_json
from clarion.templates import evaluate_key
from clarion.times import MAX_AHEAD, end_of, find_end, next_cron
from clarion.triggers.model import Trigger
from clarion.vocabulary import JobStatus
from clarion.workflows.control_parts import MAX_RETAINED, RetainedEvents, RetainOrder
from clarion.workflows.controls import BY_TIME, DigestControls, DigestType, whole

_NEVER = Millis(1 << 62)
"""The end of a window that nothing closes."""


async def decide(context: StepContext) -> StepOutcome:
    controls = context.read_controls(DigestControls)
    closes_at = _end(context, controls)
    if closes_at - context.now > MAX_AHEAD:
        context.note(DetailCode.DEFERRED_TOO_LONG, raw={"until": None if closes_at == _NEVER else closes_at})
        return Failed()
    identity = _identity(context, controls)
    window = await context.digests.find(identity)
    if window is not None and window.leader_run_id is not None:
        return await _join(context, controls, window, window.leader_run_id, closes_at)
    if controls.look_back_window is not None and not _is_recent(context, controls, window):
        await context.digests.open(identity, None)
        context.note(DetailCode.DIGEST_SKIPPED, raw=_look_back(controls, window))
        return _go_on_alone(context)
    if controls.dynamic_key and closes_at <= context.now:
        context.note(DetailCode.DIGEST_AT_ONCE, raw=_seen(context, controls))
        return _go_on_alone(context)
    closes_at = extend(context, closes_at)
    closes_by = _latest(context, controls, closes_at)
    opened = await context.digests.open(identity, Leader(context.job, context.run.id, closes_at, closes_by))
    await context.digests.join(opened, _joined_event(context, controls), max_items=controls.max_items)
    context.job.digest = _metadata(controls)
    latest = {} if closes_by is None else {"latest": closes_by}
    context.note(DetailCode.DIGEST_STARTED, raw={"until": closes_at, **latest, **_seen(context, controls)})
    return Waiting(closes_at)


async def finish(context: StepContext) -> StepOutcome:
    """The window closes; the run goes on with every event that joined it."""
    extension = await context.digests.find_extension(context.job)
    if extension is not None:
        _note_extension(context, extension)
        return Waiting(extension.until)
    until, own = extend(context, context.now), context.run.trigger
    if until > context.now:
        return Waiting(until)
    controls = context.read_controls(DigestControls)
    retained = None if controls.retain is None else controls.retain.count or MAX_RETAINED
    closed = await context.digests.close(context.job.id, retained)
    if own.is_expired(context.now) and (closed is None or not closed.total):
        raw = {"expiresAt": own.expires_at}
        context.note(DetailCode.EXPIRED, raw=raw)
        return Ended(JobStatus.CANCELED, DetailCode.EXPIRED, raw)
    outputs = _outputs(closed.events, closed.total) if closed and closed.total else _outputs([_event(own)], 1)
    context.job.digest = (context.job.digest or {"type": "regular"}) | outputs
    if closed is not None and closed.hides_own:
        context.job.digest[HIDES_OWN] = True
    context.job.has_events = True
    context.note(DetailCode.DIGEST_CLOSED, raw=_told(outputs, controls))
    return Done(outputs=outputs)


def find_window_id(context: StepContext) -> bytes:
    """Which window the step will ask for."""
    return _identity(context, context.read_controls(DigestControls)).window_id


async def _join(
    context: StepContext, controls: DigestControls, window: DigestWindow, leader_run_id: NotificationId, until: Millis
) -> StepOutcome:
    joined = await context.digests.join(
        window,
        _joined_event(context, controls),
        until=until if controls.slide_up_to is not None else None,
        max_items=controls.max_items,
    )
    raw = {"_digestedNotificationId": id_text(leader_run_id), "until": joined.closes_at, **_seen(context, controls)}
    if controls.max_items is not None and joined.id != window.id:
        raw["maxItems"] = controls.max_items
    context.note(DetailCode.DIGEST_MERGED, raw=raw)
    return Merged(leader_run_id)


def _latest(context: StepContext, controls: DigestControls, closes_at: Millis) -> Millis | None:
    """Until when further events may extend a window that opens now."""
    limit = controls.slide_up_to
    if limit is None:
        return None
    return max(closes_at, end_of(context.now, limit.amount, limit.unit, context.zone))


def _note_extension(context: StepContext, extension: Extension) -> None:
    """Note that further events extended the window: once, since there may be many extensions."""
    if not any(one.code == DetailCode.DIGEST_EXTENDED for one in context.job.details):
        context.note(DetailCode.DIGEST_EXTENDED, raw={"until": extension.until, "latest": extension.latest})


def _told(outputs: dict[str, Any], controls: DigestControls) -> dict[str, Any]:
    """How many events a digest has, how many of them are shown, and whether it was full."""
    shown, count = len(outputs["events"]), outputs["eventCount"]
    is_full = controls.max_items is not None and count >= controls.max_items
    return {
        "events": count,
        **({} if shown == count else {"shown": shown}),
        **({"maxItems": controls.max_items} if is_full else {}),
    }


def _go_on_alone(context: StepContext) -> StepOutcome:
    """The run goes on at once with its own event."""
    context.job.has_events = True
    return Done(outputs=_outputs([_event(context.run.trigger)], 1))


def _joined_event(context: StepContext, controls: DigestControls) -> JoinedEvent:
    return JoinedEvent(context.job.id, context.run.trigger, _sort_key(context, controls.retain))


def _sort_key(context: StepContext, retain: RetainedEvents | None) -> bytes | None:
    """By what the event is kept for templates; None: in the order of the triggers."""
    if retain is None:
        return None
    is_descending = retain.order is RetainOrder.DESC
    if retain.by in (None, "", BY_TIME):
        return bytes(255 - one for one in context.run.trigger.id) if is_descending else None
    return make_sort_key(evaluate_key(str(retain.by), context.variables), is_descending=is_descending)


def _end(context: StepContext, controls: DigestControls) -> Millis:
    """When a window that opens now closes; now, where a length from a key is none and there is no other."""
    if controls.kind is DigestType.TIMED:
        end = next_cron(controls.cron, context.now, context.zone) if controls.cron else None
        return _NEVER if end is None else end
    if controls.dynamic_key:
        return _dynamic_end(context, controls, controls.dynamic_key)
    return _fixed_end(context, controls, _NEVER)


def _dynamic_end(context: StepContext, controls: DigestControls, key: str) -> Millis:
    value = evaluate_key(key, context.variables)
    end = find_end(context.now, value, context.zone)
    if end is not None and end - context.now < MAX_AHEAD:
        return end
    raw = {"dynamicKey": key, "value": show_key_value(key, value, context.run.content)}
    reason = "is missing" if value is None else "is no length of time" if end is None else "is too long"
    fixed = {"amount": whole(controls.amount), "unit": controls.unit} if controls.amount and controls.unit else {}
    context.note(DetailCode.DIGEST_LENGTH_INVALID, raw={**raw, "reason": reason, **fixed})
    return _fixed_end(context, controls, context.now)


def _fixed_end(context: StepContext, controls: DigestControls, otherwise: Millis) -> Millis:
    if controls.amount is None or controls.unit is None:
        return otherwise
    return end_of(context.now, controls.amount, controls.unit, context.zone)


def _is_recent(context: StepContext, controls: DigestControls, window: DigestWindow | None) -> bool:
    """Whether the last event of the window's identity lies within the look-back."""
    look_back = controls.look_back_window
    if window is None or look_back is None:
        return False
    return end_of(window.last_event_at, look_back.amount, look_back.unit, context.zone) > context.now


def _identity(context: StepContext, controls: DigestControls) -> WindowIdentity:
    value = _key_value(context, controls)
    contexts = context.run.trigger.contexts
    if contexts is not None:
        # The message of a digest belongs to one context, and must not show what happened in another.
        value = [value, keys_of(contexts)]
    return WindowIdentity(
        workflow_id=context.run.workflow.id,
        step_id=context.step.id_bytes,
        subscriber_id=context.run.subscriber.id,
        key_digest=key_digest(value),
    )


def _key_value(context: StepContext, controls: DigestControls) -> Any:
    return evaluate_key(controls.digest_key, context.variables) if controls.digest_key else None


def _seen(context: StepContext, controls: DigestControls) -> dict[str, Any]:
    """What the step is set to, and the values of its keys."""
    seen, content = _metadata(controls), context.run.content
    if controls.dynamic_key:
        length = evaluate_key(controls.dynamic_key, context.variables)
        seen |= {"dynamicKey": controls.dynamic_key}
        seen |= {"length": show_key_value(controls.dynamic_key, length, content)}
    if controls.digest_key:
        seen["value"] = show_key_value(controls.digest_key, _key_value(context, controls), content)
    return seen


def _look_back(controls: DigestControls, window: DigestWindow | None) -> dict[str, Any]:
    look_back = controls.look_back_window
    last = {} if window is None else {"lastEventAt": window.last_event_at}
    return last if look_back is None else {"amount": whole(look_back.amount), "unit": look_back.unit, **last}


def key_digest(value: Any) -> bytes:
    """A value as sixteen bytes; equal values of any kind give the same ones."""
    return blake2b(encode_json(value), digest_size=16).digest()


def _event(trigger: Trigger) -> dict[str, Any]:
    return make_event(trigger.id, trigger.created_at) | {"payload": trigger.payload}


def _outputs(events: list[dict[str, Any]], count: int) -> dict[str, Any]:
    return {"events": events, "eventCount": count}


def _metadata(controls: DigestControls) -> dict[str, Any]:
    kind = "timed" if controls.kind is DigestType.TIMED else "backoff" if controls.look_back_window else "regular"
    length = (None, None) if controls.dynamic_key else (whole(controls.amount), controls.unit)
    known = {"amount": length[0], "unit": length[1], "digestKey": controls.digest_key}
    timed = {"timed": {"cronExpression": controls.cron}} if controls.cron else {}
    return {"type": kind, **{name: value for name, value in known.items() if value is not None}, **timed}
