"""Digests, delays and throttles: what a run waits for, and what ends it early."""

from typing import Any

from clarion.clock import Millis
from clarion.explain.model import Decision, DecisionKind, Verdict, length_text, sentence, with_moments
from clarion.explain.observed import Observed
from clarion.vocabulary import StepType

_KINDS = {StepType.DIGEST: DecisionKind.DIGEST, StepType.THROTTLE: DecisionKind.THROTTLE}


def digest_started(observed: Observed) -> Decision:
    key, until = _key_text(observed, "digestKey"), _until(observed)
    summary = f"The first event of a digest{key}: it gathers others until {until}{_latest(observed)}."
    remedy = "A shorter window in the digest step; the message goes out when the window closes."
    return _decision(observed, DecisionKind.DIGEST, Verdict.WAITING, summary, remedy)


def digest_merged(observed: Observed) -> Decision:
    """Of the digest step itself, and of the steps behind it."""
    leader, remedy = observed.raw.get("_digestedNotificationId"), None
    if observed.job.type is not StepType.DIGEST:
        summary = "This run was merged into the digest of another run, which sends the message."
    else:
        end = f", which closes {_until(observed)}" if "until" in observed.raw else ""
        if "maxItems" in observed.raw:
            end = f", which had {observed.raw['maxItems']} events then, as many as it takes"
        summary = f"A digest{_key_text(observed, 'digestKey')} was open: the event joined the run {leader}{end}."
        remedy = "Another value of digestKey, or a workflow without the digest step, has a run of its own."
    return _decision(observed, DecisionKind.DIGEST, Verdict.STOPPED, summary, remedy)


def digest_closed(observed: Observed) -> Decision:
    count = observed.raw.get("events", 1)
    full = ", as many as it takes (maxItems)" if "maxItems" in observed.raw else ""
    full += f", of which templates see {observed.raw['shown']}" if "shown" in observed.raw else ""
    summary = f"The digest closed with {count} event{'' if count == 1 else 's'}{full}, and the run went on."
    return _decision(observed, DecisionKind.DIGEST, Verdict.PASSED, summary)


def digest_promoted(observed: Observed) -> Decision:
    summary = f"The run that led the digest ended early: this one took its place until {_until(observed)}."
    return _decision(observed, DecisionKind.DIGEST, Verdict.WAITING, summary)


def digest_extended(observed: Observed) -> Decision:
    summary = f"Further events have extended the digest: it gathers others until {_until(observed)}{_latest(observed)}."
    remedy = "A shorter slideUpTo in the digest step."
    return _decision(observed, DecisionKind.DIGEST, Verdict.WAITING, summary, remedy)


def version_followed(observed: Observed) -> Decision:
    before, after = observed.raw.get("from"), observed.raw.get("to")
    summary = f"The workflow was changed meanwhile: the run goes on with version {after}, not with version {before}."
    remedy = "`version` of the digest step: with `pinned`, the run goes on with the version that it started with."
    return _decision(observed, DecisionKind.DIGEST, Verdict.PASSED, summary, remedy)


def version_kept(observed: Observed) -> Decision:
    before, after = observed.raw.get("from"), observed.raw.get("to")
    summary = f"Version {after} of the workflow has not got this step: the run goes on with version {before}."
    return _decision(observed, DecisionKind.DIGEST, Verdict.PASSED, summary)


def run_moved(observed: Observed) -> Decision:
    before, after = observed.raw.get("from"), observed.raw.get("to")
    summary = f"Somebody let the run go on with version {after} of the workflow, not with version {before}"
    gone = ", which has not got this step" if observed.raw.get("step") in ("skipped", "closed") else ""
    return _decision(observed, DecisionKind.WORKFLOW, Verdict.PASSED, f"{summary}{gone}.")


def digest_length_invalid(observed: Observed) -> Decision:
    raw = observed.raw
    instead = "it went on at once if no digest was open"
    if raw.get("amount") is not None:
        instead = f"{length_text(raw['amount'], raw['unit'])} were taken instead"
    summary = f"The length at {raw.get('dynamicKey')} {raw.get('reason')}: {instead}."
    remedy = "An amount with a unit there, or text such as PT30M; the step's own amount is taken where there is none."
    return _decision(observed, DecisionKind.DIGEST, Verdict.PASSED, summary, remedy)


def digest_at_once(observed: Observed) -> Decision:
    summary = f"The digest had no length at {observed.raw.get('dynamicKey')}: the event went on at once."
    return _decision(observed, DecisionKind.DIGEST, Verdict.PASSED, summary)


def digest_first(observed: Observed) -> Decision:
    summary = "No other event came within the look-back of the digest, so that this one went on at once."
    return _decision(observed, DecisionKind.DIGEST, Verdict.PASSED, summary)


def delayed(observed: Observed) -> Decision:
    summary = f"{sentence(observed.step_name)} waits until {_until(observed)}{_reason(observed)}."
    remedy = "A shorter delay in the step, or `overrides.delay` in the trigger."
    return _decision(observed, DecisionKind.DELAY, Verdict.WAITING, summary, remedy)


def delay_over(observed: Observed) -> Decision:
    past = observed.raw.get("reason") == "already past"
    summary = f"The moment of the delay, {_until(observed)}, was past already." if past else "The delay was over."
    return _decision(observed, DecisionKind.DELAY, Verdict.PASSED, summary)


def badly_configured(observed: Observed) -> Decision:
    summary = f"{sentence(observed.step_name)} does not say how long: its settings are not complete."
    if "value" in observed.raw:
        summary = f"{sentence(observed.step_name)} takes its length from the payload, which has none there."
    remedy = "Give the step an amount and a unit, a cron expression, or a path whose value in the payload is a moment."
    return _decision(observed, _kind(observed), Verdict.FAILED, summary, remedy)


def too_long(observed: Observed) -> Decision:
    end = f" ({_until(observed)})" if observed.raw.get("until") else ""
    summary = f"{sentence(observed.step_name)} would wait for longer than is allowed{end}."
    return _decision(observed, _kind(observed), Verdict.FAILED, summary, "A shorter time in the step.")


def throttled(observed: Observed) -> Decision:
    threshold, until = observed.raw.get("threshold"), observed.raw.get("until")
    again = "" if until is None else f" The next passes {_until(observed)}."
    summary = f"{_count(observed)} had passed{_window(observed)}, and no more than {threshold} may.{again}"
    remedy = "A higher threshold or a shorter window in the throttle step, or another value of its key."
    return _decision(observed, DecisionKind.THROTTLE, Verdict.STOPPED, summary, remedy)


def completed(observed: Observed) -> Decision:
    """A throttle step let the run pass, or a custom step is done."""
    if observed.job.type is StepType.THROTTLE:
        summary = f"{_count(observed)} had passed{_window(observed)}, and {observed.raw.get('threshold')} may."
        return _decision(observed, DecisionKind.THROTTLE, Verdict.PASSED, summary)
    summary = f"{sentence(observed.step_name)} is complete; later steps see its outputs."
    return observed.decision(DecisionKind.CONTENT, Verdict.PASSED, summary)


def _decision(
    observed: Observed, kind: DecisionKind, verdict: Verdict, summary: str, remedy: str | None = None
) -> Decision:
    values = with_moments(observed.raw, "until", "latest", "lastEventAt")
    return observed.decision(kind, verdict, summary, remedy, values=values)


def _kind(observed: Observed) -> DecisionKind:
    return _KINDS.get(observed.job.type, DecisionKind.DELAY)


def _count(observed: Observed) -> Any:
    return observed.raw.get("passed") or "None"


def _window(observed: Observed) -> str:
    raw = observed.raw
    if raw.get("amount") is None:
        return ""
    return f" within {length_text(raw['amount'], raw['unit'])}{_key_text(observed, 'throttleKey')}"


def _key_text(observed: Observed, name: str) -> str:
    return f" for {observed.raw[name]} = {observed.raw.get('value')!r}" if observed.raw.get(name) else ""


def _until(observed: Observed) -> str:
    until = observed.raw.get("until")
    return observed.moment(Millis(until)) if isinstance(until, int) else "a moment that was not recorded"


def _latest(observed: Observed) -> str:
    """Until when further events may extend a digest."""
    latest = observed.raw.get("latest")
    return f", and longer after each of them, to {observed.moment(Millis(latest))} at the latest" if latest else ""


def _reason(observed: Observed) -> str:
    raw = observed.raw
    if raw.get("amount") is not None:
        return f" ({length_text(raw['amount'], raw['unit'])})"
    return f" ({raw['cron']}, {raw.get('timezone')})" if raw.get("cron") else ""
