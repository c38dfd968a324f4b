"""Receipts of providers, and cancels."""

from typing import Any

from clarion.explain.model import Decision, DecisionKind, Verdict
from clarion.explain.rules.seen import Rule, Seen

_RESTART = "Trigger the workflow again, with another transactionId."


def reported(verdict: Verdict, what: str, remedy: str | None = None) -> Rule:
    """What the provider reported of a message, some time after it accepted it."""

    def rule(seen: Seen) -> list[Decision]:
        values = dict(seen.raw) if seen.raw else _other(seen.detail.raw)
        if seen.detail.provider_id is not None:
            values["providerId"] = seen.detail.provider_id
        summary = f"The provider '{seen.detail.provider_id}' reported that {what}."
        return [seen.decision(DecisionKind.RECEIPT, verdict, summary, values=values, remedy=remedy)]

    return rule


def canceled(seen: Seen) -> list[Decision]:
    summary = f"The trigger was canceled on {seen.moment(seen.at)}, before the step was done."
    return [seen.decision(DecisionKind.CANCEL, Verdict.STOPPED, summary, values=seen.raw, remedy=_RESTART)]


def stopped_by_failure(seen: Seen) -> list[Decision]:
    summary = "An earlier step failed, and that ended the run."
    remedy = (
        "Correct what made the earlier step fail. If it is set to stop the run when it fails, that can be switched off."
    )
    return [seen.decision(DecisionKind.CANCEL, Verdict.STOPPED, summary, values=seen.raw, remedy=remedy)]


def _other(raw: Any) -> dict[str, Any]:
    return {} if raw is None else {"report": raw}
