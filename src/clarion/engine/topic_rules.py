"""Rules about topics: a workflow reaches a person through a topic only if one of their subscriptions allows it.

Whoever is also named, or in a segment of the trigger, is reached in that way.

Few topics have subscriptions with rules. These are found by an index that has no others.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.engine.recipients import Recipient, hand_back
from clarion.engine.segments import MAX_MEMBERSHIP_WORK, SegmentMembers
from clarion.ids import EnvironmentId, SubscriberId, TopicId, TopicKey, TriggerId, WorkflowId, find_id
from clarion.preferences.model import subject_of
from clarion.topics.model import (
    Rule,
    decide_rules,
    decode_rules,
    explain_rules,
    is_of_context,
    subscription_identifier,
)
from clarion.triggers.model import TopicTarget
from clarion.work import MAX_RULES_WORK, WorkBudget, spend_work, spending
from clarion.workflows.model import Workflow
from clarion.workflows.store import list_workflows_by_id
from clarion.workflows.variables import person_variables, workflow_variables

# Ordered like their indexes: without statistics, SQLite would else read all subscriptions of the environment.
HAS_RULES = sql("""
    SELECT 1 FROM topic_subscriptions
    WHERE environment_id = :environment_id AND topic_id {any:topic_ids} AND preferences IS NOT NULL
    ORDER BY topic_id, subscriber_id LIMIT 1
""")
LIST_PEOPLE_WITH_RULES = sql("""
    SELECT subscriber_id FROM topic_subscriptions
    WHERE environment_id = :environment_id AND topic_id {any:topic_ids} AND subscriber_id {any:subscriber_ids}
    AND preferences IS NOT NULL ORDER BY topic_id, subscriber_id
""")
LIST_SUBSCRIPTIONS = sql("""
    SELECT topic_id, subscriber_id, identifier, preferences, context_keys FROM topic_subscriptions
    WHERE environment_id = :environment_id AND topic_id {any:topic_ids} AND subscriber_id {any:subscriber_ids}
    ORDER BY topic_id, subscriber_id, identifier
""")

_BYTES_PER_STEP = 512
"""How much JSON is decoded in the time of one step of work."""


async def apply_topic_rules(
    db: Connection, environment_id: EnvironmentId, recipients: Sequence[Recipient], now: Millis
) -> tuple[list[Recipient], bool]:
    """Each person once for each trigger, and with a refusal where no topic of the trigger lets it reach them.

    Where conditions take much work, the rest is left to the next unit; returns also whether it is.
    """
    triggers = {one.trigger.id: one.trigger for one in recipients if one.topic is not None}
    topic_ids = {_id(topic) for one in triggers.values() for topic in one.recipients.topics}
    if not topic_ids:
        return _once(recipients), False
    scope = {"environment_id": environment_id, "topic_ids": list(topic_ids)}
    if await db.fetch_one(HAS_RULES, **scope) is None:
        return _once(recipients), False
    people = {one.subscriber.id for one in recipients if one.topic is not None}
    rows = await db.fetch(LIST_PEOPLE_WITH_RULES, **scope, subscriber_ids=list(people))
    with_rules = {row["subscriber_id"] for row in rows}
    if not with_rules:
        return _once(recipients), False
    subscriptions = await db.fetch(LIST_SUBSCRIPTIONS, **scope, subscriber_ids=list(with_rules))
    workflow_ids = [one.trigger.workflow_id for one in recipients]
    workflows = await list_workflows_by_id(db, environment_id, workflow_ids)
    asked = [(one.trigger, one.subscriber) for one in recipients if one.subscriber.id in with_rules]
    segments = await SegmentMembers.load(db, environment_id, asked)
    decided, left = _Rules(subscriptions, workflows, segments, now).apply(recipients)
    for trigger_id in dict.fromkeys(one.trigger.id for one in left):
        mine = [one for one in left if one.trigger.id == trigger_id]
        await hand_back(db, mine[0].trigger, mine, now)
    return _once(decided), bool(left)


class _Rules:
    """The subscriptions of people who have rules about topics, and what these say."""

    def __init__(
        self, rows: Sequence[Row], workflows: Mapping[WorkflowId, Workflow], segments: SegmentMembers, now: Millis
    ) -> None:
        self._of: dict[SubscriberId, dict[TopicId, list[Row]]] = {}
        for row in rows:
            self._of.setdefault(row["subscriber_id"], {}).setdefault(row["topic_id"], []).append(row)
        self._workflows = workflows
        self._segments = segments
        self._now = now
        self._budget = WorkBudget()

    def apply(self, recipients: Sequence[Recipient]) -> tuple[list[Recipient], list[Recipient]]:
        """Those who are decided about, and those who are left over."""
        decided: list[Recipient] = []
        budget = self._budget
        with spending(budget):
            for place, recipient in enumerate(recipients):
                if recipient.topic is None or recipient.subscriber.id not in self._of:
                    decided.append(recipient)
                    continue
                # The first one is always decided.
                if decided and budget.is_unit_done:
                    return decided, _without(recipients[place:], decided)
                budget.start_run(MAX_RULES_WORK)
                decided += self._decide(recipient, recipient.topic)
        return decided, []

    def _decide(self, recipient: Recipient, topic: TopicTarget) -> list[Recipient]:
        """The recipient; with a refusal; or nobody, if the person is reached in another way."""
        if self._allows(recipient, topic):
            return [recipient]
        wanted = recipient.trigger.recipients
        is_named = any(person.key == recipient.subscriber.key for person in wanted.people)
        others = (
            other for other in wanted.topics if other is not topic and recipient.subscriber.key not in other.exclude
        )
        if is_named or any(self._is_member(recipient, other) and self._allows(recipient, other) for other in others):
            return []
        self._budget.start_run(MAX_MEMBERSHIP_WORK)
        if self._segments.includes(recipient.trigger, recipient.subscriber):
            return []
        return [replace(recipient, refusal=self._explain(recipient, topic))]

    def _is_member(self, recipient: Recipient, topic: TopicTarget) -> bool:
        return bool(self._list(recipient, topic))

    def _list(self, recipient: Recipient, topic: TopicTarget) -> list[Row]:
        """The subscriptions to a topic that the contexts of the trigger fit."""
        keys = recipient.trigger.context_keys
        rows = self._of[recipient.subscriber.id].get(_id(topic), [])
        return [row for row in rows if is_of_context(row["context_keys"], keys)]

    def _allows(self, recipient: Recipient, topic: TopicTarget) -> bool:
        """Whether a subscription to the topic allows it; who has left the topic in the meantime has none."""
        rows = self._list(recipient, topic)
        subject, variables = subject_of(self._workflow(recipient)), partial(self._variables, recipient)
        return not rows or any(decide_rules(_rules(row), subject, variables, now=self._now) for row in rows)

    def _explain(self, recipient: Recipient, topic: TopicTarget) -> dict[str, Any]:
        subject, variables = subject_of(self._workflow(recipient)), partial(self._variables, recipient)
        default = subscription_identifier(TopicKey(topic.key), recipient.subscriber.key)
        return {
            "topicKey": topic.key,
            "subscriptions": [
                {
                    "identifier": row["identifier"] or default,
                    **explain_rules(_rules(row), subject, variables, now=self._now),
                }
                for row in self._list(recipient, topic)
            ],
        }

    def _workflow(self, recipient: Recipient) -> Workflow:
        return self._workflows[recipient.trigger.workflow_id]

    def _variables(self, recipient: Recipient) -> Mapping[str, Any]:
        return {
            "payload": recipient.trigger.payload,
            "subscriber": person_variables(recipient.subscriber),
            "actor": None if recipient.actor is None else person_variables(recipient.actor),
            "context": recipient.trigger.contexts or {},
            "workflow": workflow_variables(self._workflow(recipient)),
        }


def _rules(row: Row) -> list[Rule]:
    text = row["preferences"]
    if text is None:
        return []
    spend_work(len(text) // _BYTES_PER_STEP)
    return decode_rules(text)


def _without(recipients: Sequence[Recipient], decided: Sequence[Recipient]) -> list[Recipient]:
    """Those who are not decided about: a person with several subscriptions is listed for each of them."""
    known = {(one.trigger.id, one.subscriber.id) for one in decided}
    return [one for one in recipients if (one.trigger.id, one.subscriber.id) not in known]


def _once(recipients: Sequence[Recipient]) -> list[Recipient]:
    """Each person once for each trigger, with a refusal only if no other way to them is listed."""
    once: dict[tuple[TriggerId, SubscriberId], Recipient] = {}
    for recipient in recipients:
        listed = once.setdefault((recipient.trigger.id, recipient.subscriber.id), recipient)
        if listed.refusal is not None and recipient.refusal is None:
            once[recipient.trigger.id, recipient.subscriber.id] = recipient
    return list(once.values())


def _id(topic: TopicTarget) -> TopicId:
    return TopicId(find_id(topic.id) or bytes(16))
