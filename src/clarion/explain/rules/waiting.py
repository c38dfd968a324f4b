"""Digests, delays and throttles: what a run waits for, and what ends it early."""

from typing import Any

from clarion.clock import Millis
from clarion.explain.model import Decision, DecisionKind, Verdict
from clarion.explain.rules.seen import Seen
from clarion.explain.words import length_text, sentence, with_moments
from clarion.vocabulary import StepType

_KINDS = {StepType.DIGEST: DecisionKind.DIGEST, StepType.THROTTLE: DecisionKind.THROTTLE}


def digest_started(seen: Seen) -> list[Decision]:
    until = _until(seen)
    key = _key_text(seen, "digestKey")
    summary = f"The first event of a digest{key}: it gathers others until {until}."
    remedy = "A shorter window in the digest step; the message goes out when the window closes."
    return [seen.decision(DecisionKind.DIGEST, Verdict.WAITING, summary, values=_values(seen), remedy=remedy)]


def digest_merged(seen: Seen) -> list[Decision]:
    """Of the digest step itself, and of the steps behind it."""
    leader = seen.raw.get("_digestedNotificationId")
    if seen.job.type is not StepType.DIGEST:
        summary = "This run was merged into the digest of another run, which sends the message."
        return [seen.decision(DecisionKind.DIGEST, Verdict.STOPPED, summary, values=_values(seen))]
    end = f", which closes {_until(seen)}" if "until" in seen.raw else ""
    summary = f"A digest{_key_text(seen, 'digestKey')} was open: the event joined the run {leader}{end}."
    remedy = "Another value of digestKey, or a workflow without the digest step, has a run of its own."
    return [seen.decision(DecisionKind.DIGEST, Verdict.STOPPED, summary, values=_values(seen), remedy=remedy)]


def digest_closed(seen: Seen) -> list[Decision]:
    count = seen.raw.get("events", 1)
    summary = f"The digest closed with {count} event{'' if count == 1 else 's'}, and the run went on."
    return [seen.decision(DecisionKind.DIGEST, Verdict.PASSED, summary, values=_values(seen))]


def digest_promoted(seen: Seen) -> list[Decision]:
    summary = f"The run that led the digest ended early: this one took its place until {_until(seen)}."
    return [seen.decision(DecisionKind.DIGEST, Verdict.WAITING, summary, values=_values(seen))]


def digest_first(seen: Seen) -> list[Decision]:
    summary = "No other event came within the look-back of the digest, so that this one went on at once."
    return [seen.decision(DecisionKind.DIGEST, Verdict.PASSED, summary, values=_values(seen))]


def delayed(seen: Seen) -> list[Decision]:
    summary = f"{sentence(seen.step_name)} waits until {_until(seen)}{_reason(seen)}."
    remedy = "A shorter delay in the step, or `overrides.delay` in the trigger."
    return [seen.decision(DecisionKind.DELAY, Verdict.WAITING, summary, values=_values(seen), remedy=remedy)]


def delay_over(seen: Seen) -> list[Decision]:
    past = seen.raw.get("reason") == "already past"
    summary = f"The moment of the delay, {_until(seen)}, was past already." if past else "The delay was over."
    return [seen.decision(DecisionKind.DELAY, Verdict.PASSED, summary, values=_values(seen))]


def delay_override_ignored(seen: Seen) -> list[Decision]:
    summary = "`overrides.delay` of the trigger was ignored, since it is no length of time."
    remedy = "Give an amount of at least 0 and a unit, such as hours."
    return [seen.decision(DecisionKind.DELAY, Verdict.PASSED, summary, values=_values(seen), remedy=remedy)]


def badly_configured(seen: Seen) -> list[Decision]:
    kind = _KINDS.get(seen.job.type, DecisionKind.DELAY)
    summary = f"{sentence(seen.step_name)} does not say how long: its settings are not complete."
    if "value" in seen.raw:
        summary = f"{sentence(seen.step_name)} takes its length from the payload, which has none there."
    remedy = "Give the step an amount and a unit, a cron expression, or a path whose value in the payload is a moment."
    return [seen.decision(kind, Verdict.FAILED, summary, values=_values(seen), remedy=remedy)]


def too_long(seen: Seen) -> list[Decision]:
    kind = _KINDS.get(seen.job.type, DecisionKind.DELAY)
    end = f" ({_until(seen)})" if seen.raw.get("until") else ""
    summary = f"{sentence(seen.step_name)} would wait for longer than is allowed{end}."
    remedy = "A shorter time in the step."
    return [seen.decision(kind, Verdict.FAILED, summary, values=_values(seen), remedy=remedy)]


def throttled(seen: Seen) -> list[Decision]:
    """Of the throttle step itself, and of the steps behind it."""
    if seen.job.type is not StepType.THROTTLE:
        summary = "A throttle step before this one ended the run."
        return [seen.decision(DecisionKind.THROTTLE, Verdict.STOPPED, summary, values=_values(seen))]
    threshold, until = seen.raw.get("threshold"), seen.raw.get("until")
    again = "" if until is None else f" The next passes {_until(seen)}."
    summary = f"{_count(seen)} had passed{_window(seen)}, and no more than {threshold} may.{again}"
    remedy = "A higher threshold or a shorter window in the throttle step, or another value of its key."
    return [seen.decision(DecisionKind.THROTTLE, Verdict.STOPPED, summary, values=_values(seen), remedy=remedy)]


def throttle_passed(seen: Seen) -> list[Decision]:
    summary = f"{_count(seen)} had passed{_window(seen)}, and {seen.raw.get('threshold')} may."
    return [seen.decision(DecisionKind.THROTTLE, Verdict.PASSED, summary, values=_values(seen))]


def _count(seen: Seen) -> str:
    passed = seen.raw.get("passed")
    return "None" if not passed else str(passed)


def _window(seen: Seen) -> str:
    if seen.raw.get("amount") is None:
        return ""
    return f" within {length_text(seen.raw['amount'], seen.raw['unit'])}{_key_text(seen, 'throttleKey')}"


def _key_text(seen: Seen, name: str) -> str:
    return f" for {seen.raw[name]} = {seen.raw.get('value')!r}" if seen.raw.get(name) else ""


def _until(seen: Seen) -> str:
    until = seen.raw.get("until")
    return seen.moment(Millis(until)) if isinstance(until, int) else "a moment that was not recorded"


def _reason(seen: Seen) -> str:
    if seen.raw.get("amount") is not None:
        return f" ({length_text(seen.raw['amount'], seen.raw['unit'])})"
    return f" ({seen.raw['cron']}, {seen.raw.get('timezone')})" if seen.raw.get("cron") else ""


def _values(seen: Seen) -> dict[str, Any]:
    return with_moments(seen.raw, "until", "lastEventAt")
