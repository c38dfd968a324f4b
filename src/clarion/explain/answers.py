"""Steps that ask a question: what is asked and until when, who answered what by which way, or that nobody did."""

from typing import Final

from clarion.clock import Millis, find_moment
from clarion.explain.model import Decision, DecisionKind, Verdict, sentence
from clarion.explain.observed import Observed

_KIND: Final = DecisionKind.ANSWER
_WAYS: Final = {"link": "by a link", "inbox": "in the inbox", "api": "through the API"}


def asked(observed: Observed) -> Decision:
    raw = observed.raw
    until = observed.moment(Millis(raw.get("until", 0)))
    choices = " or ".join(f"'{one}'" for one in raw.get("choices") or ())
    summary = f"{sentence(observed.step_name)} asks “{raw.get('question')}” and waits for {choices}, until {until}."
    remedy = "Answer by a link of its messages, with POST /v1/runs/{notificationId}/answers, or wait until then."
    return observed.decision(_KIND, Verdict.WAITING, summary, remedy)


def answered(observed: Observed) -> Decision:
    raw = observed.raw
    at = find_moment(str(raw.get("at")))
    when = "" if at is None else f" on {observed.moment(at)}"
    way = _WAYS.get(str(raw.get("way")), "")
    before = ", before the step was reached" if raw.get("givenBefore") else ""
    who = raw.get("by") or "Somebody who was erased since"
    summary = f"{who} answered '{raw.get('label')}' {way}{when}{before}, and the run went on."
    return observed.decision(_KIND, Verdict.PASSED, summary)


def over(observed: Observed) -> Decision:
    ends = observed.raw.get("onTimeout") == "exit"
    summary = f"Nobody answered in time, and the run {'ended' if ends else 'went on'}."
    return observed.decision(_KIND, Verdict.STOPPED if ends else Verdict.PASSED, summary)


def escalated(observed: Observed) -> Decision:
    people = ", ".join(observed.raw.get("transactionIds") or ())
    summary = f"Nobody had answered, and the workflow '{observed.raw.get('workflowId')}' asks {people} too."
    return observed.decision(_KIND, Verdict.WAITING, summary + _unknown_text(observed))


def not_escalated(observed: Observed) -> Decision:
    raw = observed.raw
    reason = f": {raw['reason']}" if raw.get("reason") else ""
    summary = f"Nobody had answered, and nobody else could be asked by the workflow '{raw.get('workflowId')}'{reason}."
    remedy = "Correct whom the step escalates to, and with which workflow; the question waits on."
    return observed.decision(_KIND, Verdict.WAITING, summary + _unknown_text(observed), remedy)


def _unknown_text(observed: Observed) -> str:
    unknown = observed.raw.get("unknown")
    return f" There is no subscriber {', '.join(unknown)}." if unknown else ""


def invalid(observed: Observed) -> Decision:
    summary = f"{sentence(observed.step_name)} does not say what can be answered, or how long it waits."
    return observed.decision(_KIND, Verdict.FAILED, summary, "Give the step choices and a timeout.")
