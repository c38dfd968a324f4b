"""Preferences and schedules: what a person wants, and when."""

from typing import Any

from clarion.clock import Millis, iso_text
from clarion.explain.model import Decision, DecisionKind, DecisionSource, Verdict
from clarion.explain.rules.seen import Seen
from clarion.explain.store import PreferenceSwitch
from clarion.explain.words import CHANNEL_WORDS, sentence
from clarion.preferences.model import DecidingLayer
from clarion.schedules import next_within
from clarion.vocabulary import Channel

_SUBSCRIBER_LAYERS = {DecidingLayer.SUBSCRIBER_GLOBAL: True, DecidingLayer.SUBSCRIBER_WORKFLOW: False}


def filtered(seen: Seen) -> list[Decision]:
    """A layer of preferences switched the channel off."""
    layer = DecidingLayer(seen.raw.get("layer", DecidingLayer.WORKFLOW_DEFAULT))
    word = CHANNEL_WORDS[seen.channel] if seen.channel else "the channel"
    if layer not in _SUBSCRIBER_LAYERS:
        return [_filtered_by_workflow(seen, layer, word)]
    is_global = _SUBSCRIBER_LAYERS[layer]
    where = "for all workflows" if is_global else f"for {seen.workflow_name}"
    switch = _find_switch(seen, is_global=is_global)
    values: dict[str, Any] = {"channel": seen.channel, "layer": layer, "critical": False}
    when, later = "", ""
    if switch is not None and switch.updated_at <= seen.at:
        when = f" on {seen.day(switch.updated_at)}"
        values["switchedAt"] = iso_text(switch.updated_at)
    elif switch is not None:
        later = f" {seen.name} has changed this since, on {seen.day(switch.updated_at)}."
    summary = f"{seen.name} switched {word} off {where}{when}; the workflow is not critical.{later}"
    remedy = f"{seen.name} switches {word} on again, or the workflow is made critical."
    return [seen.decision(DecisionKind.PREFERENCE, Verdict.STOPPED, summary, values=values, remedy=remedy)]


def _filtered_by_workflow(seen: Seen, layer: DecidingLayer, word: str) -> Decision:
    who = "The team" if layer is DecidingLayer.WORKFLOW_OVERRIDE else "The author"
    summary = f"{who} of {seen.workflow_name} switched {word} off, and {seen.name} did not switch it on."
    remedy = f"Switch {word} on in the preferences of the workflow; {seen.name} can do so, too, if it is not critical."
    if seen.was_critical:
        summary = f"{who} of {seen.workflow_name} switched {word} off; it was critical, so that only this counted."
    values = {"channel": seen.channel, "layer": layer, "critical": seen.was_critical}
    return seen.decision(DecisionKind.PREFERENCE, Verdict.STOPPED, summary, values=values, remedy=remedy)


def _find_switch(seen: Seen, *, is_global: bool) -> PreferenceSwitch | None:
    found = (one for one in seen.run.switches if one.is_global is is_global and one.channel is seen.channel)
    return next(found, None)


def passed(seen: Seen) -> list[Decision]:
    """No preference stood against a message, which follows from what came next."""
    if seen.channel is None:
        return []
    word, overruled = CHANNEL_WORDS[seen.channel], seen.raw.get("overruled")
    values: dict[str, Any] = {"channel": seen.channel, "critical": seen.was_critical}
    summary = f"No preference stood against {word}."
    if overruled is not None:
        summary = f"The workflow was critical, so that it did not matter that {seen.name} had switched {word} off."
        switch = _find_switch(seen, is_global=_SUBSCRIBER_LAYERS[DecidingLayer(overruled)])
        values["overruled"] = overruled
        if switch is not None and switch.updated_at <= seen.at:
            values["switchedAt"] = iso_text(switch.updated_at)
    elif seen.was_critical:
        summary = f"The workflow was critical: what {seen.name} switches does not count for it."
    return [
        seen.decision(DecisionKind.PREFERENCE, Verdict.PASSED, summary, values=values, source=DecisionSource.DERIVED)
    ]


def outside_schedule(seen: Seen) -> list[Decision]:
    zone, schedule = seen.raw.get("timezone"), seen.raw.get("schedule")
    inside = next_within(schedule, seen.at, zone) if isinstance(schedule, dict) else None
    summary = f"It was {seen.moment(seen.at)}, outside the hours in which {seen.name} wants messages ({zone})."
    values = {"timezone": zone, "schedule": schedule, "moment": iso_text(seen.at)}
    remedy = "Other hours in the person's schedule, or a critical workflow."
    if inside is not None:
        values["insideFrom"] = iso_text(inside)
        remedy = (
            f"The hours begin at {seen.moment(inside)}: a delay or digest step before it with "
            f"extendToSchedule waits for them. So do {remedy[0].lower()}{remedy[1:]}"
        )
    return [seen.decision(DecisionKind.SCHEDULE, Verdict.STOPPED, summary, values=values, remedy=remedy)]


def inside_schedule(seen: Seen) -> list[Decision]:
    """The moment was inside the person's schedule, where they have one."""
    schedule = seen.raw.get("schedule")
    if not isinstance(schedule, dict) or seen.channel in (None, Channel.IN_APP):
        return []
    zone = schedule.get("timezone")
    summary = f"It was inside the hours in which {seen.name} wants messages ({zone})."
    values = {"timezone": zone, "moment": iso_text(seen.at)}
    return [seen.decision(DecisionKind.SCHEDULE, Verdict.PASSED, summary, values=values)]


def extended(seen: Seen) -> list[Decision]:
    """A delay or digest waits for the person's hours."""
    until = Millis(seen.raw.get("until", seen.at))
    values = {
        "from": iso_text(Millis(seen.raw.get("from", seen.at))),
        "until": iso_text(until),
        "timezone": seen.raw.get("timezone"),
        "schedule": seen.raw.get("schedule"),
    }
    summary = f"{sentence(seen.step_name)} waits until {seen.moment(until)}, when the hours of {seen.name} begin."
    remedy = "Other hours in the person's schedule, or a step without extendToSchedule."
    return [seen.decision(DecisionKind.SCHEDULE, Verdict.WAITING, summary, values=values, remedy=remedy)]


def topic_rules(seen: Seen) -> list[Decision]:
    """The person's subscriptions to the topics of the trigger do not let the workflow through."""
    topic = seen.raw.get("topicKey")
    summary = f"The subscription of {seen.name} to the topic does not let {seen.workflow_name} through."
    if topic is not None:
        conditional = any("condition" in one for one in seen.raw.get("subscriptions", ()))
        how = "lets it through only under conditions that did not hold" if conditional else "switches it off"
        summary = f"{seen.name} is subscribed to the topic '{topic}' with a rule for {seen.workflow_name} that {how}."
    remedy = "Change the preferences of the subscription to the topic, or name the person as a recipient."
    return [seen.decision(DecisionKind.PREFERENCE, Verdict.STOPPED, summary, values=seen.raw, remedy=remedy)]
