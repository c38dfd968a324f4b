"""Rules of subscriptions to topics: reading, checking and changing them, and the workflows that they are for."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, UnsetType

from clarion.clock import Millis
from clarion.conditions import OF_SUBSCRIBERS, check_logic
from clarion.db.port import Connection
from clarion.errors import Invalid, NotFound, Problem
from clarion.http.wire import changes_of
from clarion.ids import EnvironmentId
from clarion.jsontext import json_text
from clarion.preferences.model import subject_of
from clarion.preferences.wire import RuleIn, SubscriptionPreferencePatch
from clarion.subscribers.model import Subscriber
from clarion.topics.model import MAX_RULES, MAX_RULES_BYTES, Rule, Subscription, WorkflowFilter, change_rule
from clarion.topics.subscriptions import list_own_by_reference, update_subscription
from clarion.workflows.model import Workflow
from clarion.workflows.store import get_workflow, list_workflows, list_workflows_by_reference

_CRITICAL = "names a critical workflow, which cannot be switched off or made conditional"
_UNKNOWN = "names the workflow '{}', which does not exist in this environment"


async def read_rules(
    db: Connection, environment_id: EnvironmentId, preferences: Sequence[str | RuleIn] | None
) -> list[Rule]:
    """The rules that a caller wrote; raises Invalid with every one that is wrong."""
    read = [_read_rule(one, f"preferences.{place}") for place, one in enumerate(preferences or ())]
    references = [name for one in read for name in one.rule.filter.workflow_ids]
    workflows = await list_workflows_by_reference(db, environment_id, references) if references else {}
    problems: dict[str, list[Problem]] = {}
    for one in read:
        for path, problem in _check(one, workflows):
            problems.setdefault(path, []).append(problem)
    if problems:
        raise Invalid(problems)
    rules = [one.rule for one in read]
    _check_size(rules, "preferences")
    return rules


async def check_tags(db: Connection, environment_id: EnvironmentId, preferences: Sequence[str | RuleIn]) -> None:
    """Refuse tags that no workflow has: the rule would be for nothing."""
    named = [
        (f"preferences.{place}.filter.tags", tag)
        for place, rule in enumerate(preferences)
        if not isinstance(rule, str) and not isinstance(rule.filter, UnsetType)
        for tag in rule.filter.tags
    ]
    if not named:
        return
    known = {tag for workflow in await list_workflows(db, environment_id) for tag in workflow.tags}
    problems: dict[str, list[Problem]] = {}
    for path, tag in named:
        if tag not in known:
            problem = Problem(f"names the tag '{tag}', which no workflow of this environment has", tag)
            problems.setdefault(path, []).append(problem)
    if problems:
        raise Invalid(problems)


async def update_subscription_preference(  # noqa: PLR0913 - whose, of which subscription, what and when
    db: Connection,
    subscriber: Subscriber,
    identifier: str,
    workflow_reference: str,
    patch: SubscriptionPreferencePatch,
    now: Millis,
    *,
    context_keys: Sequence[str],
    path: str = "",
) -> tuple[Subscription, Workflow]:
    """Change what a subscription of a person says about one workflow; the caller has locked the person's row.

    It is one that messages of exactly these contexts reach. `path` is where the patch stands in the body, with a dot
    at its end.
    """
    subscription = await _get_own(db, subscriber, identifier, context_keys)
    workflow = await get_workflow(db, subscriber.environment_id, workflow_reference)
    change = _read_change(patch, path)
    if not change:
        return subscription, workflow
    if workflow.is_critical and (change.get("enabled") is False or change.get("condition") is not None):
        raise Invalid.field(f"{path}enabled" if "enabled" in change else f"{path}condition", _CRITICAL)
    rules = change_rule(subscription.rules, subject_of(workflow), change)
    _check_size(rules, f"{path}condition")
    return await update_subscription(db, subscription, {"rules": rules}, now), workflow


async def list_subscription_workflows(
    db: Connection, environment_id: EnvironmentId, filters: Sequence[WorkflowFilter]
) -> list[Workflow]:
    """The workflows that one of the filters includes, oldest first."""
    references = [name for one in filters for name in one.workflow_ids]
    found = await list_workflows_by_reference(db, environment_id, references) if references else {}
    by_id = {one.id: one for one in found.values()}
    tags = {tag for one in filters for tag in one.tags}
    if tags:
        everything = await list_workflows(db, environment_id)
        by_id |= {one.id: one for one in everything if not tags.isdisjoint(one.tags)}
    return [by_id[one] for one in sorted(by_id)]


class _ReadRule(Struct, frozen=True):
    """A rule and where it stands in the body."""

    rule: Rule
    path: str
    workflows_path: str


def _read_rule(given: str | RuleIn, path: str) -> _ReadRule:
    if isinstance(given, str):
        return _ReadRule(Rule(filter=WorkflowFilter(workflow_ids=[given])), path, path)
    ids: list[str] = []
    tags: list[str] = []
    if not isinstance(given.filter, UnsetType):
        ids, tags = given.filter.workflow_ids, given.filter.tags
    where = f"{path}.filter.workflowIds"
    if not isinstance(given.workflow_id, UnsetType):
        ids, where = [*ids, given.workflow_id], f"{path}.workflowId"
    condition = given.condition if given.condition != {} else None
    rule = Rule(filter=WorkflowFilter(workflow_ids=ids, tags=tags), enabled=given.enabled, condition=condition)
    return _ReadRule(rule, path, where)


def _check(read: _ReadRule, workflows: Mapping[str, Workflow]) -> Iterator[tuple[str, Problem]]:
    wanted = read.rule.filter
    if not wanted.workflow_ids and not wanted.tags:
        yield read.path, Problem("is for no workflow: give workflowId, or workflowIds or tags in filter")
    for name in wanted.workflow_ids:
        if name not in workflows:
            yield read.workflows_path, Problem(_UNKNOWN.format(name), name)
        elif workflows[name].is_critical and read.rule.can_refuse:
            yield read.workflows_path, Problem(_CRITICAL, name)
    yield from _check_condition(read.rule.condition, f"{read.path}.condition")


def _check_condition(condition: Any, path: str) -> Iterator[tuple[str, Problem]]:
    problem = None if condition is None else check_logic(condition, OF_SUBSCRIBERS)
    if problem is not None:
        yield path, Problem(problem)


def _check_size(rules: Sequence[Rule], path: str) -> None:
    if len(rules) > MAX_RULES:
        raise Invalid.field(path, f"would make more than {MAX_RULES} rules of the subscription")
    if len(json_text(rules)) > MAX_RULES_BYTES:
        raise Invalid.field(path, f"would make the rules of the subscription larger than {MAX_RULES_BYTES} bytes")


def _read_change(patch: SubscriptionPreferencePatch, path: str) -> dict[str, Any]:
    change = changes_of(patch, "enabled", "condition")
    switches = set(patch.given().values()) | ({change["enabled"]} if "enabled" in change else set())
    if len(switches) > 1:
        raise Invalid.field(
            f"{path}enabled", "must be the same for all channels: a subscription switches them together"
        )
    if switches:
        change["enabled"] = switches.pop()
    if "condition" in change:
        change["condition"] = change["condition"] if change["condition"] != {} else None
        for where, problem in _check_condition(change["condition"], f"{path}condition"):
            raise Invalid({where: [problem]})
    return change


async def _get_own(db: Connection, subscriber: Subscriber, reference: str, context_keys: Sequence[str]) -> Subscription:
    person = (subscriber.id, subscriber.key)
    listed = await list_own_by_reference(db, subscriber.environment_id, person, reference)
    subscriptions = [one for one in listed if one.is_shown_in(context_keys)]
    if not subscriptions:
        raise NotFound("Subscription", reference)
    if len(subscriptions) > 1:
        raise Invalid.field(
            "identifier", "names subscriptions to several topics; name one by its id instead", reference
        )
    return subscriptions[0]
