"""Steps that wait for an event: what they wait for, what came, and what came and was not meant."""

from typing import Any

from clarion.clock import Millis, find_moment
from clarion.explain.model import Decision, DecisionKind, Verdict, sentence
from clarion.explain.observed import Observed

_KIND = DecisionKind.EVENT


def waits(observed: Observed) -> Decision:
    raw = observed.raw
    wait = observed.run.waits.get(observed.job.id)
    missed = "" if wait is None else _missed_text(observed, wait.missed, wait.last_missed)
    values = [f"'{path}' is {value!r}" for path, value in (raw.get("match") or {}).items()]
    values += ["its condition holds"] if raw.get("condition") else []
    where = f" of which {' and '.join(values)}" if values else ""
    message = f" about the message of the step '{raw['ofStep']}'" if raw.get("ofStep") else ""
    until = observed.moment(Millis(raw.get("until", 0)))
    summary = f"{sentence(observed.step_name)} waits for the event '{raw.get('event')}'{message}{where}, until {until}."
    remedy = "Emit the event for the person with POST /v1/events/emit, or wait until then."
    return observed.decision(_KIND, Verdict.WAITING, summary + missed, remedy)


def matched(observed: Observed) -> Decision:
    raw = observed.raw
    at = find_moment(str(raw.get("at")))
    when = "" if at is None else f" on {observed.moment(at)}"
    before = ", before the step was reached" if raw.get("cameBefore") else ""
    summary = f"The event '{raw.get('event')}' came{when}{before}, and the run went on."
    return observed.decision(_KIND, Verdict.PASSED, summary + _missed(observed))


def over(observed: Observed) -> Decision:
    raw = observed.raw
    ends = raw.get("onTimeout") == "exit"
    summary = f"The event '{raw.get('event')}' did not come in time, and the run {'ended' if ends else 'went on'}."
    return observed.decision(_KIND, Verdict.STOPPED if ends else Verdict.PASSED, summary + _missed(observed))


def invalid(observed: Observed) -> Decision:
    summary = f"{sentence(observed.step_name)} does not say for which event it waits, or for how long."
    return observed.decision(_KIND, Verdict.FAILED, summary, "Give the step an event and a timeout.")


def too_many(observed: Observed) -> Decision:
    summary = f"{observed.raw.get('limit')} steps wait for events about {observed.name} already, and no more may."
    remedy = "Cancel runs that wait for nothing that still matters, or give their steps a shorter timeout."
    return observed.decision(_KIND, Verdict.FAILED, summary, remedy)


def _missed(observed: Observed) -> str:
    return _missed_text(observed, observed.raw.get("missed", 0), observed.raw.get("lastMissed"))


def _missed_text(observed: Observed, missed: int, last: dict[str, Any] | None) -> str:
    if not missed or last is None:
        return ""
    count = "One event" if missed == 1 else f"{missed} events"
    verb, which = ("was", "it") if missed == 1 else ("were", "the last one")
    when = observed.moment(Millis(last["at"]))
    return f" {count} with this name came and {verb} not taken; {which} on {when}: {last['reason']}."
