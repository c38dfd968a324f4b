"""Sending: content, address, suppression, integration, the attempts, and what became of the message."""

from collections.abc import Mapping
from typing import Any

from clarion.clock import Millis, iso_text
from clarion.explain.model import CHANNEL_WORDS, Decision, DecisionKind, Verdict, list_text, sentence, with_moments
from clarion.explain.observed import Observed
from clarion.sending.model import PassedOver
from clarion.sending.suppressions.model import Suppression, fold_address
from clarion.templates.locales import language_of, normalize_locale
from clarion.vocabulary import Channel, StepType, count_text

_ADDRESSES = {Channel.EMAIL: "email address", Channel.SMS: "phone number"}
_ENTRIES: dict[Channel | None, tuple[str, str]] = {
    Channel.CHAT: ("chat address", "PUT /v1/subscribers/{subscriberId}/credentials or POST /v1/channel-endpoints"),
    Channel.PUSH: ("device token", "PUT /v1/subscribers/{subscriberId}/credentials"),
    Channel.TOOL: ("channel endpoint", "POST /v1/channel-endpoints"),
}
_REASONS = {
    "bounced": "an earlier message to it bounced",
    "complained": "its owner reported an earlier message as spam",
    "unsubscribed": "its owner unsubscribed",
    "manual": "it was suppressed by hand",
}
_REPORTED = {
    "bounced": "the message bounced for good",
    "complained": "its receiver reported it as spam",
    "unsubscribed": "its receiver unsubscribed",
}
_BY = {
    "primary": "it is the primary integration of the channel",
    "priority": "it is the first of the channel by priority",
    "weight": "the weights of the channel's integrations chose it for this message",
    "trigger": "the trigger names it",
    "entry": "the person's credentials belong to it",
}
_DELETED_BY = {
    "subscriber": "{name} in the inbox",
    "retention": "retention, because it was older than in-app messages are kept",
    "apiKey": "an API key",
    "member": "a member of the team",
}


def content_made(observed: Observed) -> Decision:
    count = observed.raw.get("messages", 1)
    summary = "The message was rendered." if count == 1 else f"{count} messages were rendered, one for each address."
    language = observed.raw.get("language")
    if isinstance(language, dict) and language.get("used"):
        summary += f" Its texts are in {_explain_language(language)}."
    return observed.decision(DecisionKind.CONTENT, Verdict.PASSED, summary)


def _explain_language(language: Mapping[str, Any]) -> str:
    """The languages that the texts were found in, each with the reason."""
    default, own = str(language.get("default")), language.get("locale")
    wanted = normalize_locale(own)
    reasons = []
    for locale in language["used"]:
        if locale == wanted:
            reason = "the language of the person"
        elif own is None and locale == default:
            reason = "the default language, because the person has none"
        elif language_of(locale) == language_of(wanted or default):
            reason = f"the same language as {own or default}"
        else:
            reason = f"the default language, where there are none in {own}"
        reasons.append(f"{locale} ({reason})")
    return list_text(reasons)


def texts_missing(observed: Observed) -> Decision:
    keys = [str(key) for key in observed.raw.get("keys", ())]
    summary = f"These texts were missing for {observed.raw.get('locale')}, so their keys were shown: {list_text(keys)}."
    remedy = "Add them in the default language with POST /v2/translations; `isTranslationEnabled` must be true."
    return observed.decision(DecisionKind.CONTENT, Verdict.PASSED, summary, remedy)


def content_failed(observed: Observed) -> Decision:
    summary = f"The content could not be made: {observed.raw.get('reason', 'the reason was not recorded')}."
    remedy = "Correct the step, or the payload that it renders; then trigger it again."
    return observed.decision(DecisionKind.CONTENT, Verdict.FAILED, summary, remedy)


def step_failed(observed: Observed) -> Decision:
    summary = f"{sentence(observed.step_name)} failed unexpectedly: {observed.raw.get('reason', 'not recorded')}."
    remedy = "Correct the step or the payload that it works on; the log of the worker says where it failed."
    return observed.decision(DecisionKind.CONTENT, Verdict.FAILED, summary, remedy)


def address_missing(observed: Observed) -> Decision:
    """The person has no email address or phone number, or no credentials of the channel."""
    person, channel = observed.run.subscriber, observed.channel
    if channel not in _ADDRESSES:
        what, operation = _ENTRIES.get(channel, _ENTRIES[Channel.CHAT])
        summary = f"{observed.name} had no {what} at any provider of the channel."
        remedy = f"Store the person's {what} with {operation}."
        return observed.decision(DecisionKind.ADDRESS, Verdict.FAILED, summary, remedy)
    word = _ADDRESSES[channel]
    summary = f"{observed.name} had no {word}."
    if person is not None and (person.email if channel is Channel.EMAIL else person.phone):
        summary += f" There is one now; the profile was changed on {observed.day(person.updated_at)}."
    remedy = (
        f"Give the person a {word} (PATCH /v2/subscribers/{{subscriberId}}), or name one in `overrides.{channel}` of "
        "the trigger."
    )
    return observed.decision(DecisionKind.ADDRESS, Verdict.FAILED, summary, remedy)


def layout_selected(observed: Observed) -> Decision:
    version = observed.raw.get("version")
    which = "" if version is None else f", in version {version}"
    summary = f"The layout '{observed.raw.get('layoutId')}' was used{which}."
    return observed.decision(DecisionKind.CONTENT, Verdict.PASSED, summary)


def layout_missing(observed: Observed) -> Decision:
    summary = f"The layout '{observed.raw.get('layoutId')}' did not exist."
    remedy = (
        "Create it (POST /v2/layouts), or name another one in the step or in the overrides of the trigger; null there "
        "is none."
    )
    return observed.decision(DecisionKind.CONTENT, Verdict.FAILED, summary, remedy)


def suppressed(observed: Observed) -> Decision:
    reason, values, since = str(observed.raw.get("reason", "")), dict(observed.raw), ""
    suppression = _find_suppression(observed)
    if suppression is None:
        since = " then; it is not any more"
    elif suppression.created_at <= observed.at:
        since = f" since {observed.day(suppression.created_at)}"
        values["since"] = iso_text(suppression.created_at)
        values |= {"providerId": suppression.provider_id, "detail": suppression.detail}
    thing = "email address" if observed.channel is Channel.EMAIL else "phone number"
    summary = f"The {thing} of {observed.name} is suppressed{since}, because {_REASONS.get(reason, reason)}."
    remedy = "DELETE /v1/suppressions/{channel}/{address} lets it be written to again."
    if reason == "unsubscribed" and observed.channel is Channel.EMAIL:
        remedy += " Emails of critical workflows are sent nevertheless."
    return observed.decision(DecisionKind.SUPPRESSION, Verdict.STOPPED, summary, remedy, values=values)


def _find_suppression(observed: Observed) -> Suppression | None:
    messages = observed.run.messages_of(observed.job)
    forms = {fold_address(one.channel, one.email or one.phone or "") for one in messages}
    known = [one for one in observed.run.suppressions if one.channel is observed.channel]
    return next((one for one in known if one.address in forms), next(iter(known), None))


def copies_suppressed(observed: Observed) -> Decision:
    addresses = [one for found in observed.raw.get("leftOut", {}).values() for one in found]
    summary = f"Copies to suppressed addresses were left out: {list_text(addresses)}."
    remedy = "DELETE /v1/suppressions/{channel}/{address} lets an address be written to again."
    return observed.decision(DecisionKind.SUPPRESSION, Verdict.PASSED, summary, remedy)


def address_suppressed(observed: Observed) -> Decision:
    """What a report of the provider means for later messages."""
    reason = str(observed.raw.get("reason", ""))
    summary = f"Because {_REPORTED.get(reason, reason)}, nothing more is sent to {observed.raw.get('address')}."
    remedy = "DELETE /v1/suppressions/{channel}/{address} lets it be written to again."
    return observed.decision(DecisionKind.SUPPRESSION, Verdict.PASSED, summary, remedy)


def integration_selected(observed: Observed) -> Decision:
    identifier = observed.raw.get("identifier") or observed.raw.get("providerId")
    reason = _BY.get(str(observed.raw.get("by")))
    summary = f"The integration '{identifier}' was chosen" + (f", because {reason}." if reason else ".")
    passed_over = observed.raw.get("passedOver")
    if isinstance(passed_over, dict) and passed_over:
        rests = observed.raw.get("restsUntil", {})
        summary += (
            " Passed over: " + "; ".join(_passed_over(observed, *one, rests) for one in passed_over.items()) + "."
        )
    ineligible = observed.raw.get("notEligible")
    if isinstance(ineligible, dict) and ineligible:
        summary += f" Not eligible: {_list_ineligible(ineligible)}."
    values = dict(observed.raw)
    if "restsUntil" in values:
        values["restsUntil"] = {name: iso_text(Millis(until)) for name, until in values["restsUntil"].items()}
    return observed.decision(DecisionKind.INTEGRATION, Verdict.PASSED, summary, values=values)


def _passed_over(observed: Observed, identifier: str, why: str, rests: dict[str, Any]) -> str:
    end = f" until {observed.moment(Millis(rests[identifier]))}" if identifier in rests else ""
    match why:
        case PassedOver.CIRCUIT_OPEN:
            return f"'{identifier}' failed too often, so that its circuit was open{end}"
        case PassedOver.PAUSED:
            return f"'{identifier}' was paused, because its provider asked for it{end}"
        case PassedOver.RATE_LIMIT:
            return f"'{identifier}' had used up its rate limit"
        case _:
            return f"'{identifier}' had no room; whether by its rate limit or for its provider was not recorded"


def integration_missing(observed: Observed) -> Decision:
    word = CHANNEL_WORDS[observed.channel] if observed.channel else "the channel"
    summary = _find_wanted_problem(observed, word) or _find_channel_problem(observed, word)
    correction = f"Create or activate an integration for {word}, or change the conditions of the one that there is"
    if "wanted" in observed.raw:
        correction = "Name an integration that there is in `integrationIdentifier` of the trigger, or leave it out"
    remedy = observed.find_way_out(correction)
    return observed.decision(DecisionKind.INTEGRATION, Verdict.FAILED, summary, remedy)


def _find_wanted_problem(observed: Observed, word: str) -> str | None:
    """What is the matter with the one integration, or the one provider, that the message can go through."""
    ineligible, provider_id = observed.raw.get("notEligible") or {}, observed.raw.get("providerId")
    if "wanted" in observed.raw:
        wanted = observed.raw["wanted"]
        others = list_text(f"'{one}'" for one in ineligible)
        missing = f"which is no integration for {word}" + (f"; there are {others}" if others else "")
        return (
            f"The trigger names the integration '{wanted}', {missing}."
            if wanted not in ineligible
            else (f"The trigger names the integration '{wanted}', which {ineligible[wanted]}.")
        )
    if provider_id and observed.channel in _ENTRIES:
        listed = _list_ineligible(ineligible)
        has_none = f"The message is for the provider '{provider_id}', of which there is no active integration"
        return f"{has_none}: {listed}." if listed else f"{has_none}."
    return None


def _find_channel_problem(observed: Observed, word: str) -> str:
    ineligible = observed.raw.get("notEligible")
    if not isinstance(ineligible, dict):
        return f"No active integration for {word} could send it."
    listed = _list_ineligible(ineligible)
    return (
        f"No integration for {word} could send it: {listed}."
        if listed
        else (f"The environment has no integration for {word}.")
    )


def _list_ineligible(ineligible: dict[str, str]) -> str:
    return "; ".join(f"'{name}' {why}" for name, why in ineligible.items())


def waits_for_turn(observed: Observed) -> Decision:
    names = list_text(f"'{one}'" for one in observed.raw.get("integrations", ())) or "the integration"
    time = count_text(observed.raw.get("milliseconds", 0) / 1000, "second", "seconds")
    paused = observed.raw.get("pausedUntil")
    values, remedy = dict(observed.raw), "A second integration of the channel, or a higher limit at the provider."
    if paused:
        until = observed.moment(Millis(max(paused.values())))
        summary = f"The provider of {list_text(map(repr, paused))} asked to be left alone until {until}: it waits."
        values["pausedUntil"] = {name: iso_text(Millis(moment)) for name, moment in paused.items()}
    elif paused is None:
        summary = (
            f"{sentence(names)} had no room for {time}; whether by its rate limit or because its provider asked for a "
            "pause was not recorded."
        )
    else:
        summary = f"The rate limit of {names} was used up: it waits for {time}."
        remedy = "A higher rate limit of the integration, or a second integration of the channel."
    return observed.decision(DecisionKind.INTEGRATION, Verdict.WAITING, summary, remedy, values=values)


def sent(observed: Observed) -> Decision:
    if observed.job.type is StepType.IN_APP:
        summary = f"The message was put into the inbox of {observed.name}."
    else:
        summary = f"The provider '{observed.detail.provider_id}' accepted the message."
    return observed.attempt(Verdict.PASSED, summary)


def attempt_failed(observed: Observed) -> Decision:
    said = observed.raw.get("message") or "the answer was not recorded"
    number = observed.raw.get("attempt")
    which = f"Attempt {number}" if number else "The attempt"
    summary = f"{which} through '{observed.detail.provider_id}' failed: {said}."
    remedy = observed.find_way_out("Correct what the provider says is wrong")
    return observed.attempt(Verdict.FAILED, summary, remedy)


def unconfirmed(observed: Observed) -> Decision:
    said = observed.raw.get("message") or "no answer came"
    summary = (
        f"The provider '{observed.detail.provider_id}' may have taken the message, but did not confirm it: {said}."
    )
    remedy = "The provider's own log shows whether the message arrived."
    return observed.attempt(Verdict.FAILED, summary, remedy)


def deleted(observed: Observed) -> Decision:
    """The message was deleted: an in-app message is gone, of others it is only the record."""
    by, name = str(observed.raw.get("by", "")), observed.raw.get("name")
    who = f"the API key '{name}'" if name else _DELETED_BY.get(by, by).format(name=observed.name)
    if observed.channel is Channel.IN_APP:
        summary = f"The message was in the inbox until {observed.moment(observed.at)}, when it was deleted by {who}."
        return observed.decision(DecisionKind.RECEIPT, Verdict.STOPPED, summary)
    day = observed.day(observed.at)
    summary = f"The record of the message was deleted on {day} by {who}; this changed nothing else."
    return observed.decision(DecisionKind.RECEIPT, Verdict.PASSED, summary)


def canceled(observed: Observed) -> Decision:
    summary = f"The trigger was canceled on {observed.moment(observed.at)}, before the step was done."
    remedy = "Trigger the workflow again, with another transactionId."
    return observed.decision(DecisionKind.CANCEL, Verdict.STOPPED, summary, remedy)


def expired(observed: Observed) -> Decision:
    expires_at = observed.raw.get("expiresAt")
    moment = observed.moment(Millis(expires_at)) if isinstance(expires_at, int) else "a moment that was not recorded"
    summary = f"The trigger expired on {moment} (expiresAt), before the step was done."
    remedy = "Trigger the workflow again, with another transactionId and a later expiresAt."
    values = with_moments(observed.raw, "expiresAt")
    return observed.decision(DecisionKind.CANCEL, Verdict.STOPPED, summary, remedy, values=values)
