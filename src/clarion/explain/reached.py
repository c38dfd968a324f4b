"""Whether a step goes on when it is reached: by its conditions, by what the person wants, and when they want it."""

from collections.abc import Iterator, Mapping
from typing import Any

from clarion.clock import Millis, iso_text
from clarion.contexts.model import keys_of
from clarion.explain.model import CHANNEL_WORDS, Decision, DecisionKind, DecisionSource, Verdict, sentence
from clarion.explain.observed import Observed
from clarion.explain.store import PreferenceSwitch
from clarion.jobs.details import DetailCode, code_of
from clarion.jsontext import json_text
from clarion.preferences.model import ChangeReason, DecidingLayer
from clarion.times import next_within
from clarion.vocabulary import Channel

_WORDS = {
    "is": ("==", "===", "EQUAL"),
    "is not": ("!=", "!==", "NOT_EQUAL"),
    "is greater than": (">", "LARGER"),
    "is at least": (">=", "LARGER_EQUAL"),
    "is less than": ("<", "SMALLER"),
    "is at most": ("<=", "SMALLER_EQUAL"),
    "is one of": ("IN",),
    "is in": ("in",),
    "is none of": ("NOT_IN",),
    "is like": ("LIKE",),
    "is not like": ("NOT_LIKE",),
    "is between": ("BETWEEN",),
    "is not between": ("NOT_BETWEEN",),
    "are all in": ("ALL_IN",),
    "has one of": ("ANY_IN",),
}
_OPERATORS = {operator: words for words, operators in _WORDS.items() for operator in operators}
_GLOBAL_LAYERS = (DecidingLayer.SUBSCRIBER_GLOBAL, DecidingLayer.CONTEXT_GLOBAL)
_CONTEXT_LAYERS = (DecidingLayer.CONTEXT_GLOBAL, DecidingLayer.CONTEXT_WORKFLOW)
_REFUSALS: dict[str | None, DecisionKind] = {
    DetailCode.CONDITIONS_REFUSED: DecisionKind.CONDITION,
    DetailCode.WORKFLOW_FILTERED: DecisionKind.PREFERENCE,
    DetailCode.OVERRIDE_FILTERED: DecisionKind.PREFERENCE,
    DetailCode.SUBSCRIBER_FILTERED: DecisionKind.PREFERENCE,
    DetailCode.SUBSCRIBER_WORKFLOW_FILTERED: DecisionKind.PREFERENCE,
    DetailCode.OUTSIDE_SCHEDULE: DecisionKind.SCHEDULE,
}


def list_passed(observed: Observed) -> Iterator[Decision]:
    """The rules that let a step pass when it was reached: conditions, preferences and schedule, in this order."""
    refusal = _find_refusal(observed)
    yield from _conditions_passed(observed, is_reached=refusal is not DecisionKind.CONDITION)
    if refusal not in (DecisionKind.CONDITION, DecisionKind.PREFERENCE):
        yield from _preferences_passed(observed)
    if refusal is None:
        yield from _schedule_passed(observed)


def _find_refusal(observed: Observed) -> DecisionKind | None:
    """Which rule refused the step just after it was reached, if one did."""
    details = observed.job.details
    place = next((place for place, one in enumerate(details) if one is observed.detail), len(details))
    for later in details[place + 1 :]:
        code = code_of(later)
        if later.at != observed.at or code == DetailCode.STEP_QUEUED:
            break
        if code in _REFUSALS:
            return _REFUSALS[code]
    return None


def conditions_refused(observed: Observed) -> Decision:
    """Which comparisons were made, and which of them decided."""
    reason = join_comparisons(observed.raw, held=False)
    summary = f"The conditions of {observed.step_name} did not hold{reason}."
    remedy = "Values for which the conditions hold, or other conditions in the step."
    return observed.decision(DecisionKind.CONDITION, Verdict.STOPPED, summary, remedy)


def _conditions_passed(observed: Observed, *, is_reached: bool) -> Iterator[Decision]:
    """The conditions that a step has, where they held; they were recorded then, or follow from what came next."""
    kind, verdict = DecisionKind.CONDITION, Verdict.PASSED
    step, explanation = observed.step, observed.raw.get("conditions")
    if isinstance(explanation, dict):
        reason = join_comparisons(explanation, held=True)
        yield observed.decision(
            kind, verdict, f"The conditions of {observed.step_name} held{reason}.", values=explanation
        )
    elif is_reached and step is not None and (step.filters or step.rule):
        summary = f"The conditions of {observed.step_name} held. The values that they saw were not recorded."
        yield observed.decision(kind, verdict, summary, values={}, source=DecisionSource.DERIVED)


def join_comparisons(explanation: Mapping[str, Any], *, held: bool) -> str:
    texts = [_compared(one) for one in _list_comparisons(explanation) if _holds(one) is held]
    return f": {'; '.join(texts[:3])}" if texts else ""


def _list_comparisons(explanation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The comparisons of filters and of JSON-logic, in their order."""
    yield from explanation.get("comparisons", ())
    for group in (*explanation.get("groups", ()), *explanation.get("children", ())):
        if "children" in group:
            yield from _list_comparisons(group)
        else:
            yield group


def _holds(comparison: Mapping[str, Any]) -> bool:
    return bool(comparison.get("passed", comparison.get("outcome")))


def _compared(comparison: Mapping[str, Any]) -> str:
    """Such as: payload.amount is 5, and not greater than 10."""
    if "segment" in comparison:
        return _in_segment(comparison)
    field = comparison.get("field") or comparison.get("step") or comparison.get("on") or "the rule"
    source = comparison.get("on")
    if source and comparison.get("field") and not str(field).startswith(f"{source}."):
        field = f"{source}.{field}"
    if "problem" in comparison:
        return f"{field} {comparison['problem']}"
    operator = str(comparison.get("operator", ""))
    wanted = f"{_OPERATORS.get(operator, operator)} {_value(comparison.get('expected'))}".strip()
    return f"{field} was {_value(comparison.get('actual'))} (wanted: {wanted})"


def _in_segment(comparison: Mapping[str, Any]) -> str:
    conditions, is_in = comparison.get("conditions") or {}, _holds(comparison)
    key, verb = comparison["segment"], "was in" if is_in else "was not in"
    if "problem" in conditions:
        return f"the person {verb} the segment '{key}': {conditions['problem']}"
    reason = join_comparisons(conditions, held=is_in).removeprefix(": ")
    return f"the person {verb} the segment '{key}'{f' ({reason})' if reason else ''}"


def _value(value: Any) -> str:
    return "absent" if value is None else json_text(value)


_UNSUBSCRIBED = {
    ChangeReason.LINK: "by the link to unsubscribe in a message",
    ChangeReason.ONE_CLICK: "by the button to unsubscribe of the mail program",
    ChangeReason.SMS_KEYWORD: "by a text message with a word such as STOP",
}


def filtered(observed: Observed) -> Decision:
    """A layer of preferences switched the channel off."""
    layer = DecidingLayer(observed.raw.get("layer", DecidingLayer.WORKFLOW_DEFAULT))
    word = CHANNEL_WORDS[observed.channel] if observed.channel else "the channel"
    if layer in (DecidingLayer.WORKFLOW_DEFAULT, DecidingLayer.WORKFLOW_OVERRIDE):
        return _filtered_by_workflow(observed, layer, word)
    where = "for all workflows" if layer in _GLOBAL_LAYERS else f"for {observed.workflow_name}"
    if layer in _CONTEXT_LAYERS:
        where += f" in {_contexts_of(observed)}"
    switch = _find_switch(observed, layer)
    values: dict[str, Any] = {"channel": observed.channel, "layer": layer, "critical": False}
    when, later = "", ""
    if switch is not None and switch.updated_at <= observed.at:
        when = f" on {observed.day(switch.updated_at)}"
        values["switchedAt"] = iso_text(switch.updated_at)
    elif switch is not None:
        later = f" {observed.name} has changed this since, on {observed.day(switch.updated_at)}."
    how = ""
    if observed.raw.get("reason") in _UNSUBSCRIBED:
        values["reason"] = observed.raw["reason"]
        how = f" {_UNSUBSCRIBED[observed.raw['reason']]}"
    summary = f"{observed.name} switched {word} off {where}{how}{when}; the workflow is not critical.{later}"
    remedy = f"{observed.name} switches {word} on again, or the workflow is made critical."
    return observed.decision(DecisionKind.PREFERENCE, Verdict.STOPPED, summary, remedy, values=values)


def _filtered_by_workflow(observed: Observed, layer: DecidingLayer, word: str) -> Decision:
    who = "The team" if layer is DecidingLayer.WORKFLOW_OVERRIDE else "The author"
    name, is_critical = observed.name, observed.was_critical
    summary = f"{who} of {observed.workflow_name} switched {word} off, and {name} did not switch it on."
    remedy = f"Switch {word} on in the preferences of the workflow; {name} can do so, too, if it is not critical."
    if is_critical:
        summary = f"{who} of {observed.workflow_name} switched {word} off; it was critical, so that only this counted."
    values = {"channel": observed.channel, "layer": layer, "critical": is_critical}
    return observed.decision(DecisionKind.PREFERENCE, Verdict.STOPPED, summary, remedy, values=values)


def _contexts_of(observed: Observed) -> str:
    trigger = observed.run.trigger
    return "this context" if trigger is None else ", ".join(keys_of(trigger.contexts or {}))


def _find_switch(observed: Observed, layer: DecidingLayer) -> PreferenceSwitch | None:
    place = (layer in _GLOBAL_LAYERS, layer in _CONTEXT_LAYERS, observed.channel)
    switches = observed.run.switches
    return next((one for one in switches if (one.is_global, one.is_in_context, one.channel) == place), None)


def _preferences_passed(observed: Observed) -> Iterator[Decision]:
    """No preference stood against a message, which follows from what came next."""
    if observed.channel is None:
        return
    word, overruled = CHANNEL_WORDS[observed.channel], observed.raw.get("overruled")
    values: dict[str, Any] = {"channel": observed.channel, "critical": observed.was_critical}
    summary = f"No preference stood against {word}."
    if overruled is not None:
        summary = f"The workflow was critical, so that it did not matter that {observed.name} had switched {word} off."
        switch = _find_switch(observed, DecidingLayer(overruled))
        values["overruled"] = overruled
        if switch is not None and switch.updated_at <= observed.at:
            values["switchedAt"] = iso_text(switch.updated_at)
    elif observed.was_critical:
        summary = f"The workflow was critical: what {observed.name} switches does not count for it."
    derived = DecisionSource.DERIVED
    yield observed.decision(DecisionKind.PREFERENCE, Verdict.PASSED, summary, values=values, source=derived)


def refused_by_topic(observed: Observed) -> Decision:
    """The person's subscriptions to the topics of the trigger do not let the workflow through."""
    topic, workflow = observed.raw.get("topicKey"), observed.workflow_name
    summary = f"The subscription of {observed.name} to the topic does not let {workflow} through."
    if topic is not None:
        conditional = any("condition" in one for one in observed.raw.get("subscriptions", ()))
        how = "lets it through only under conditions that did not hold" if conditional else "switches it off"
        summary = f"{observed.name} is subscribed to the topic '{topic}' with a rule for {workflow} that {how}."
    remedy = "Change the preferences of the subscription to the topic, or name the person as a recipient."
    return observed.decision(DecisionKind.PREFERENCE, Verdict.STOPPED, summary, remedy)


def outside_schedule(observed: Observed) -> Decision:
    zone, schedule, at = observed.raw.get("timezone"), observed.raw.get("schedule"), observed.at
    inside = next_within(schedule, at, zone) if isinstance(schedule, dict) else None
    summary = f"It was {observed.moment(at)}, outside the hours in which {observed.name} wants messages ({zone})."
    values = {"timezone": zone, "schedule": schedule, "moment": iso_text(at)}
    remedy = "Other hours in the person's schedule, or a critical workflow."
    if inside is not None:
        values["insideFrom"] = iso_text(inside)
        remedy = (
            f"The hours begin at {observed.moment(inside)}: a delay or digest step before it with "
            f"extendToSchedule waits for them. So do {remedy[0].lower()}{remedy[1:]}"
        )
    return observed.decision(DecisionKind.SCHEDULE, Verdict.STOPPED, summary, remedy, values=values)


def _schedule_passed(observed: Observed) -> Iterator[Decision]:
    """The moment was inside the person's schedule, where they have one."""
    schedule = observed.raw.get("schedule")
    if isinstance(schedule, dict) and observed.channel not in (None, Channel.IN_APP):
        zone = schedule.get("timezone")
        summary = f"It was inside the hours in which {observed.name} wants messages ({zone})."
        values = {"timezone": zone, "moment": iso_text(observed.at)}
        yield observed.decision(DecisionKind.SCHEDULE, Verdict.PASSED, summary, values=values)


def extended_to_schedule(observed: Observed) -> Decision:
    """A delay or digest waits for the person's hours."""
    raw, until = observed.raw, Millis(observed.raw.get("until", observed.at))
    values = {
        "from": iso_text(Millis(raw.get("from", observed.at))),
        "until": iso_text(until),
        "timezone": raw.get("timezone"),
        "schedule": raw.get("schedule"),
    }
    moment = observed.moment(until)
    summary = f"{sentence(observed.step_name)} waits until {moment}, when the hours of {observed.name} begin."
    remedy = "Other hours in the person's schedule, or a step without extendToSchedule."
    return observed.decision(DecisionKind.SCHEDULE, Verdict.WAITING, summary, remedy, values=values)
