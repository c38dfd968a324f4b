"""Messages that were changed or withdrawn after they were made: what became of that, and why not."""

from clarion.explain.model import Decision, DecisionKind, Verdict, sentence
from clarion.explain.observed import Observed
from clarion.jobs.details import DetailCode, code_of
from clarion.vocabulary import StepType

_WORDS = {
    DetailCode.MESSAGE_UPDATING: "change",
    DetailCode.MESSAGE_UPDATED: "changed",
    DetailCode.MESSAGE_NOT_UPDATED: "changed",
    DetailCode.MESSAGE_WITHDRAWING: "take back",
    DetailCode.MESSAGE_WITHDRAWN: "withdrawn",
    DetailCode.MESSAGE_NOT_WITHDRAWN: "withdrawn",
}


def done(observed: Observed) -> Decision:
    summary = f"The message was {_word(observed)} on {observed.moment(observed.at)}{_by(observed)}."
    return observed.decision(DecisionKind.CHANGE, Verdict.PASSED, summary)


def under_way(observed: Observed) -> Decision:
    when = f"on {observed.moment(observed.at)}{_by(observed)}"
    summary = f"The provider was asked to {_word(observed)} the message {when}."
    return observed.decision(DecisionKind.CHANGE, Verdict.WAITING, summary)


def not_done(observed: Observed) -> Decision:
    reason = str(observed.raw.get("reason", "the provider refused it"))
    summary = f"The message could not be {_word(observed)}: {reason}."
    remedy = "Send another message that corrects it."
    return observed.decision(DecisionKind.CHANGE, Verdict.FAILED, summary, remedy)


def refused(observed: Observed) -> Decision:
    said = str(observed.raw.get("message", "nothing"))
    summary = f"The provider did not take the change of the message: {said}."
    remedy = observed.find_way_out("Correct what it said")
    return observed.decision(DecisionKind.CHANGE, Verdict.FAILED, summary, remedy)


def earlier_changed(observed: Observed) -> Decision:
    """Of the step that asked for it."""
    return observed.decision(DecisionKind.CHANGE, Verdict.PASSED, f"{_done_text(observed)}.")


def earlier_not_changed(observed: Observed) -> Decision:
    reasons = "; ".join(observed.raw.get("reasons") or {})
    count = observed.raw.get("refused", 0)
    summary = f"{_done_text(observed)}; {count} could not be: {reasons}."
    remedy = "Send another message that corrects it."
    return observed.decision(DecisionKind.CHANGE, Verdict.FAILED, summary, remedy)


def nothing_to_change(observed: Observed) -> Decision:
    summary = f"The step '{observed.raw.get('ofStep')}' has no message in this run: there was nothing to change."
    return observed.decision(DecisionKind.CHANGE, Verdict.PASSED, summary)


def invalid(observed: Observed) -> Decision:
    summary = f"{sentence(observed.step_name)} does not say whose messages it changes."
    return observed.decision(DecisionKind.CHANGE, Verdict.FAILED, summary, "Name an earlier step in `ofStep`.")


def _done_text(observed: Observed) -> str:
    changed, pending = observed.raw.get("changed", 0), observed.raw.get("pending", 0)
    word = "withdrawn" if observed.job.type is StepType.CLEAR else "changed"
    asked = f", and the providers of {pending} are asked" if pending else ""
    return f"Of the messages of the step '{observed.raw.get('ofStep')}', {changed} were {word}{asked}"


def _word(observed: Observed) -> str:
    return next(word for code, word in _WORDS.items() if code == code_of(observed.detail))


def _by(observed: Observed) -> str:
    """Who asked for it, where that is recorded."""
    name, step = observed.raw.get("name"), observed.raw.get("step")
    if step:
        return f", by the step '{step}' of the run"
    return f", with the API key '{name}'" if name else ""
