"""SQL of triggers without a run for a person: whom they are for, how far they have come, and who was meant."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from clarion.audit.model import Action, TargetType
from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import (
    EnvironmentId,
    NotificationId,
    SubscriberId,
    SubscriberKey,
    TopicId,
    TriggerId,
    WorkflowId,
    WorkflowKey,
    find_id,
    last_id,
)
from clarion.jobs.lanes import lane_of
from clarion.jsontext import json_value
from clarion.subscribers.model import Subscriber
from clarion.topics.model import is_of_context
from clarion.triggers.model import TopicTarget, Trigger, TriggerState
from clarion.triggers.store import list_triggers_by_id
from clarion.vocabulary import find_nearest
from clarion.workflows.model import Workflow
from clarion.workflows.store import WORKFLOW_COLUMNS, workflow_of

FIND_FACTS = sql("""
    SELECT repeats, repeated_at, runs_deleted_at, warnings, accepted_at FROM triggers
    WHERE environment_id = :environment_id AND id = :id
""")
LIST_TOPICS = sql("SELECT id FROM topics WHERE environment_id = :environment_id AND id {any:ids}")
LIST_RUNS_OF_TRIGGERS = sql("""
    SELECT trigger_id, id FROM notifications
    WHERE environment_id = :environment_id AND trigger_id {any:trigger_ids} AND subscriber_id = :subscriber_id
""")
# Ordered like its index: without statistics, SQLite would else read all subscriptions of the environment.
LIST_MEMBERSHIPS = sql("""
    SELECT topic_id, created_at, context_keys FROM topic_subscriptions
    WHERE environment_id = :environment_id AND topic_id {any:topic_ids} AND subscriber_id = :subscriber_id
    ORDER BY topic_id, subscriber_id, identifier
""")
# With the priority, which has few values, the index has the lane too; the rows of other lanes are not read.
LIST_RECIPIENT_BATCHES = sql("""
    SELECT subscriber_ids FROM trigger_parts
    WHERE environment_id = :environment_id AND priority {any:priorities} AND trigger_id = :trigger_id AND lane = :lane
""")
# The limits keep a person with a long history, or a busy environment, from being read whole.
LIST_RECENT_RUNS = sql("""
    SELECT trigger_id FROM (
        SELECT id, trigger_id, workflow_id FROM notifications
        WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id ORDER BY id DESC LIMIT :looked_at
    ) AS recent WHERE workflow_id = :workflow_id ORDER BY id DESC LIMIT :limit
""")
LIST_RECENT_TRIGGERS = sql("""
    SELECT id FROM (
        SELECT id, workflow_id FROM triggers
        WHERE environment_id = :environment_id AND id <= :last ORDER BY id DESC LIMIT :looked_at
    ) AS recent WHERE workflow_id = :workflow_id ORDER BY id DESC LIMIT :limit
""")
LIST_SCHEDULED_TRIGGERS = sql("""
    SELECT id FROM (
        SELECT id, workflow_id FROM triggers
        WHERE environment_id = :environment_id AND state = 'scheduled' ORDER BY lane LIMIT :looked_at
    ) AS recent WHERE workflow_id = :workflow_id LIMIT :limit
""")
FIND_NEWEST_RUN = sql("""
    SELECT trigger_id FROM notifications
    WHERE environment_id = :environment_id AND workflow_id = :workflow_id AND step_types = :step_types
    AND id < :before ORDER BY id DESC LIMIT 1
""")
FIND_FIRST_RUN = sql("""
    SELECT id FROM notifications
    WHERE environment_id = :environment_id AND trigger_id = :trigger_id ORDER BY id LIMIT 1
""")
NEXT_STEP_TYPES = sql("""
    SELECT step_types FROM notifications
    WHERE environment_id = :environment_id AND workflow_id = :workflow_id AND step_types > :after
    ORDER BY step_types LIMIT 1
""")
FIND_DELETED_WORKFLOW = sql(f"""
    SELECT {WORKFLOW_COLUMNS} FROM workflows
    WHERE environment_id = :environment_id AND key = :key AND deleted_at IS NOT NULL ORDER BY deleted_at DESC LIMIT 1
""")
FIND_ERASURE = sql("""
    SELECT created_at FROM audit_entries
    WHERE environment_id = :environment_id AND target_type = :target_type AND target_id = :key AND action = :action
    ORDER BY id DESC LIMIT 1
""")
LIST_KEYS_BEFORE = sql("""
    SELECT id, key FROM subscribers WHERE environment_id = :environment_id AND key < :key ORDER BY key DESC LIMIT :limit
""")
LIST_KEYS_AFTER = sql("""
    SELECT id, key FROM subscribers WHERE environment_id = :environment_id AND key > :key ORDER BY key LIMIT :limit
""")
LIST_SPELLINGS = sql("""
    SELECT id, key FROM subscribers WHERE environment_id = :environment_id AND key {any:keys}
""")

_NEIGHBOURS = 20
_PRIORITIES = [0, 1, 2, 3]
_LAST = b"\xff" * 16
LOOKED_AT = 500
"""How many runs of the person, and triggers of the environment, are searched for those of a workflow."""
_TRIGGERS = 10
_MASKS = 8
_TRIGGERS_OF_OTHERS = 5
"""How many triggers of a workflow are found by runs of others, for each of its sets of step types."""


class TopicMembership(Struct, frozen=True):
    """That a person is subscribed to a topic, once or several times."""

    subscriptions: list[tuple[str | None, Millis]]
    """The contexts of each, as they are stored, and when it was made."""

    def joined_at(self, trigger: Trigger) -> Millis | None:
        """Since when triggers of these contexts reach the person; None if no subscription is of them."""
        fitting = [at for keys, at in self.subscriptions if is_of_context(keys, trigger.context_keys)]
        return min(fitting, default=None)

    def list_contexts(self) -> list[str]:
        """The contexts of each subscription, in words."""
        return [" and ".join(json_value(keys)) for keys, _ in self.subscriptions if keys is not None]


class TriggerFacts(Struct, frozen=True):
    """What was noted with a trigger after it was accepted."""

    repeats: int = 0
    """How often its transaction was sent again."""
    repeated_at: Millis | None = None
    runs_deleted_at: Millis | None = None
    """When retention first deleted runs of it."""
    warnings: list[str] = []
    """What the response to it warned of."""
    accepted_at: Millis | None = None
    """When it was accepted, if it was for a later moment."""


async def find_facts(db: Connection, trigger: Trigger) -> TriggerFacts:
    row = await db.fetch_one(FIND_FACTS, environment_id=trigger.environment_id, id=trigger.id)
    if row is None:
        return TriggerFacts()
    warnings = json_value(row["warnings"]) or []
    return TriggerFacts(row["repeats"] or 0, row["repeated_at"], row["runs_deleted_at"], warnings, row["accepted_at"])


async def list_existing_topics(db: Connection, trigger: Trigger) -> set[TopicId]:
    """Those of the topics that a trigger is for that are not deleted."""
    ids = [topic_id_of(one) for one in trigger.recipients.topics]
    rows = await db.fetch(LIST_TOPICS, environment_id=trigger.environment_id, ids=ids) if ids else []
    return {TopicId(row["id"]) for row in rows}


def topic_id_of(topic: TopicTarget) -> TopicId:
    return TopicId(find_id(topic.id) or bytes(16))


async def list_runs_of_triggers(
    db: Connection, environment_id: EnvironmentId, trigger_ids: Sequence[TriggerId], subscriber_id: SubscriberId
) -> dict[TriggerId, NotificationId]:
    """The runs of a person, by trigger."""
    scope = {"environment_id": environment_id, "trigger_ids": list(trigger_ids)}
    rows = await db.fetch(LIST_RUNS_OF_TRIGGERS, **scope, subscriber_id=subscriber_id) if trigger_ids else []
    return {row["trigger_id"]: row["id"] for row in rows}


async def list_memberships(
    db: Connection, environment_id: EnvironmentId, topic_ids: Iterable[TopicId], subscriber_id: SubscriberId
) -> dict[TopicId, TopicMembership]:
    """Those of the topics that a person is a member of."""
    wanted = sorted(set(topic_ids))
    if not wanted:
        return {}
    rows = await db.fetch(
        LIST_MEMBERSHIPS, environment_id=environment_id, topic_ids=wanted, subscriber_id=subscriber_id
    )
    memberships: dict[TopicId, TopicMembership] = {}
    for row in rows:
        membership = memberships.setdefault(TopicId(row["topic_id"]), TopicMembership([]))
        membership.subscriptions.append((row["context_keys"], Millis(row["created_at"])))
    return memberships


async def is_in_recipient_batch(db: Connection, trigger: Trigger, person: Subscriber) -> bool:
    """Whether a person is among the recipients of a trigger whose run is not started yet."""
    rows = await db.fetch(
        LIST_RECIPIENT_BATCHES,
        environment_id=trigger.environment_id,
        priorities=_PRIORITIES,
        trigger_id=trigger.id,
        lane=lane_of(person.key),
    )
    return any(_is_packed(bytes(row["subscriber_ids"]), person.id) for row in rows)


async def list_recent_triggers(
    db: Connection,
    environment_id: EnvironmentId,
    workflow_id: WorkflowId,
    subscriber_id: SubscriberId | None,
    now: Millis,
) -> list[Trigger]:
    """Triggers of a workflow that may be for a person, newest first, and then those that wait for their moment.

    They are found by runs of the person, by runs of others, and among the newest of the environment.
    """
    scope = {"environment_id": environment_id, "workflow_id": workflow_id}
    limits = {"looked_at": LOOKED_AT, "limit": _TRIGGERS}
    trigger_ids = {row["id"] for row in await db.fetch(LIST_RECENT_TRIGGERS, **scope, **limits, last=last_id(now))}
    trigger_ids |= {row["id"] for row in await db.fetch(LIST_SCHEDULED_TRIGGERS, **scope, **limits)}
    if subscriber_id is not None:
        rows = await db.fetch(LIST_RECENT_RUNS, **scope, **limits, subscriber_id=subscriber_id)
        trigger_ids |= {row["trigger_id"] for row in rows}
    trigger_ids |= await _list_triggers_of_others(db, environment_id, workflow_id)
    triggers = await list_triggers_by_id(db, environment_id, sorted(trigger_ids)) if trigger_ids else {}
    return sorted(triggers.values(), key=lambda one: (one.state is not TriggerState.SCHEDULED, one.id), reverse=True)


async def find_deleted_workflow(db: Connection, environment_id: EnvironmentId, key: WorkflowKey) -> Workflow | None:
    row = await db.fetch_one(FIND_DELETED_WORKFLOW, environment_id=environment_id, key=key)
    return None if row is None else workflow_of(row)


async def _list_triggers_of_others(
    db: Connection, environment_id: EnvironmentId, workflow_id: WorkflowId
) -> set[TriggerId]:
    """The newest triggers by their runs, stepping over all runs of each."""
    scope = {"environment_id": environment_id, "workflow_id": workflow_id}
    trigger_ids: set[TriggerId] = set()
    kinds = -1
    for _ in range(_MASKS):
        mask = await db.fetch_one(NEXT_STEP_TYPES, **scope, after=kinds)
        if mask is None:
            break
        kinds, before = mask["step_types"], _LAST
        for _ in range(_TRIGGERS_OF_OTHERS):
            run = await db.fetch_one(FIND_NEWEST_RUN, **scope, step_types=kinds, before=before)
            if run is None:
                break
            trigger_ids.add(run["trigger_id"])
            first = await db.fetch_one(FIND_FIRST_RUN, environment_id=environment_id, trigger_id=run["trigger_id"])
            before = _LAST if first is None else first["id"]
    return trigger_ids


def _is_packed(packed: bytes, subscriber_id: SubscriberId) -> bool:
    return any(packed[start : start + 16] == subscriber_id for start in range(0, len(packed), 16))


async def find_erasure(db: Connection, environment_id: EnvironmentId, key: SubscriberKey) -> Millis | None:
    """When a person with the key was erased last, as long as the audit log tells."""
    target = {"target_type": TargetType.SUBSCRIBER, "action": Action.SUBSCRIBER_ERASE}
    row = await db.fetch_one(FIND_ERASURE, environment_id=environment_id, key=key, **target)
    return None if row is None else Millis(row["created_at"])


async def find_near_key(
    db: Connection, environment_id: EnvironmentId, key: SubscriberKey, *, before: bytes = _LAST
) -> str | None:
    """The key of a person, created before an id, that this one may be a misspelling of.

    Only spellings in other cases and keys that stand beside it in the order of keys are compared. Keys that differ in
    digits alone are no misspellings: they are the next number.
    """
    scope = {"environment_id": environment_id}
    beside = {**scope, "key": key, "limit": _NEIGHBOURS}
    rows = [
        *await db.fetch(LIST_SPELLINGS, **scope, keys=[key.lower(), key.upper(), key.capitalize(), key.strip()]),
        *await db.fetch(LIST_KEYS_BEFORE, **beside),
        *await db.fetch(LIST_KEYS_AFTER, **beside),
    ]
    known = [str(row["key"]) for row in rows if row["key"] != key and bytes(row["id"]) < before]
    return find_nearest(key, [one for one in known if not _is_other_number(one, key)])


def _is_other_number(key: str, other: str) -> bool:
    """Whether two keys differ in their digits alone."""
    return _digits(key) != _digits(other) and _without_digits(key) == _without_digits(other)


def _digits(key: str) -> str:
    return "".join(one for one in key if one.isdigit())


def _without_digits(key: str) -> str:
    return "".join(one for one in key.casefold() if not one.isdigit())
