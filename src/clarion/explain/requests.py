"""HTTP steps: what was called, what was answered, and why there is no answer."""

from clarion.clock import Millis
from clarion.explain.model import Decision, DecisionKind, Verdict, with_moments
from clarion.explain.observed import Observed


def prepared(observed: Observed) -> Decision:
    summary = f"A request was prepared: {_name(observed)}."
    return observed.decision(DecisionKind.REQUEST, Verdict.WAITING, summary)


def answered(observed: Observed) -> Decision:
    raw = observed.raw
    came = "would be called; here the answer is taken to be" if raw.get("simulated") else "was answered with"
    summary = f"{_name(observed)} {came} {raw.get('statusCode')}{_attempt(observed)}."
    return observed.decision(DecisionKind.REQUEST, Verdict.PASSED, summary)


def failed(observed: Observed) -> Decision:
    raw = observed.raw
    if "attempt" not in raw:
        summary = f"The request of {observed.step_name} could not be made: {raw.get('error')}."
        remedy = "Correct what the reason names in the step, or in the payload of the trigger."
        return observed.decision(DecisionKind.REQUEST, Verdict.FAILED, summary, remedy)
    again = raw.get("nextAttemptAt")
    summary = f"{_name(observed)} failed{_attempt(observed)}: {raw.get('error')}."
    if again is not None:
        summary += f" It is tried again at {again}."
        return observed.decision(DecisionKind.REQUEST, Verdict.WAITING, summary, "Nothing has to be done yet.")
    remedy = "Correct what the server says, then trigger the workflow again. `onFailure: continue` lets runs go on."
    return observed.decision(DecisionKind.REQUEST, Verdict.FAILED, summary, remedy)


def answer_refused(observed: Observed) -> Decision:
    remedy = "Correct the answer of the server, or `responseBodySchema` of the step."
    summary = f"The answer does not fit the schema of {observed.step_name}, which is binding: {_violations(observed)}."
    return observed.decision(DecisionKind.REQUEST, Verdict.FAILED, summary, remedy)


def answer_unfit(observed: Observed) -> Decision:
    summary = f"The answer does not fit the schema of {observed.step_name}: {_violations(observed)}."
    remedy = "Correct the answer of the server, or `responseBodySchema` of the step."
    return observed.decision(DecisionKind.REQUEST, Verdict.PASSED, summary, remedy)


def waits_for_host(observed: Observed) -> Decision:
    raw = observed.raw
    why = "failed several times in a row" if raw.get("failures") else "asked to be left alone"
    moment = observed.moment(Millis(raw.get("until", observed.at)))
    summary = f"{raw.get('host')} {why}: the request waits until {moment} at least."
    values = with_moments(raw, "until")
    return observed.decision(
        DecisionKind.REQUEST, Verdict.WAITING, summary, "Nothing has to be done yet.", values=values
    )


def waits_for_shared(observed: Observed) -> Decision:
    summary = "The request is made once for all people of the trigger: the run waits for its answer."
    values = with_moments(observed.raw, "until")
    return observed.decision(
        DecisionKind.REQUEST, Verdict.WAITING, summary, "Nothing has to be done yet.", values=values
    )


def answer_shared(observed: Observed) -> Decision:
    raw, status = observed.raw, observed.raw.get("statusCode")
    came = "It was not answered" if status is None else f"It was answered with {status}"
    summary = f"The request is made once for all people of the trigger. {came} (job {raw.get('_jobId')})."
    if raw.get("ok"):
        return observed.decision(DecisionKind.REQUEST, Verdict.PASSED, summary)
    remedy = "The run that made the request tells why."
    return observed.decision(DecisionKind.REQUEST, Verdict.FAILED, summary, remedy)


def _name(observed: Observed) -> str:
    return f"{observed.raw.get('method', 'The request')} {observed.raw.get('url', '')}".strip()


def _attempt(observed: Observed) -> str:
    attempt = observed.raw.get("attempt")
    return f" in attempt {attempt}" if isinstance(attempt, int) and attempt > 1 else ""


def _violations(observed: Observed) -> str:
    errors = observed.raw.get("errors") or [{}]
    first = errors[0]
    where = first.get("path") or "the body"
    more = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
    return f"{where} {first.get('message')}{more}"
