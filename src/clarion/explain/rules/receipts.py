"""Receipts of providers, and cancels."""

from typing import Any

from clarion.explain.model import Decision, DecisionKind, Verdict
from clarion.explain.rules.seen import Rule, Seen
from clarion.vocabulary import Channel

_DELETED_BY = {
    "subscriber": "{name} in the inbox",
    "retention": "retention, because it was older than in-app messages are kept",
    "apiKey": "an API key",
    "member": "a member of the team",
}
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


def deleted(seen: Seen) -> list[Decision]:
    """The message was deleted: an in-app message is gone, of others it is only the record."""
    by, name = str(seen.raw.get("by", "")), seen.raw.get("name")
    who = f"the API key '{name}'" if name else _DELETED_BY.get(by, by).format(name=seen.name)
    if seen.channel is not Channel.IN_APP:
        summary = f"The record of the message was deleted on {seen.day(seen.at)} by {who}; this changed nothing else."
        return [seen.decision(DecisionKind.RECEIPT, Verdict.PASSED, summary, values=seen.raw)]
    summary = f"The message was in the inbox until {seen.moment(seen.at)}, when it was deleted by {who}."
    return [seen.decision(DecisionKind.RECEIPT, Verdict.STOPPED, summary, values=seen.raw)]


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
