"""SQL of answers."""

from collections.abc import Collection
from typing import Any

from clarion.answers.model import AnswerWay, RunAnswer
from clarion.db.port import Connection, Row
from clarion.db.query import Insert, sql
from clarion.ids import EnvironmentId, NotificationId, SubscriberId

ANSWERS = Insert(
    "answers",
    *("environment_id", "notification_id", "step_id", "subscriber_id", "choice", "label", "way", "answered_at"),
    on_conflict="ON CONFLICT DO NOTHING",
)
LIST_ANSWERS = sql("""
    SELECT a.notification_id, a.step_id, a.subscriber_id, a.choice, a.label, a.way, a.answered_at, s.key
    FROM answers AS a LEFT JOIN subscribers AS s ON s.environment_id = a.environment_id AND s.id = a.subscriber_id
    WHERE a.environment_id = :environment_id AND a.notification_id {any:run_ids}
""")
DELETE_ANSWERS = sql("""
    DELETE FROM answers WHERE environment_id = :environment_id AND notification_id {any:run_ids}
""")
FIND_PERSON = sql("""
    SELECT s.id FROM subscribers AS s JOIN environments AS e ON e.id = s.environment_id AND e.deleted_at IS NULL
    WHERE s.environment_id = :environment_id AND s.id = :subscriber_id
""")
FIND_KEY_OF_PERSON = sql("""
    SELECT s.key FROM notifications AS n
    JOIN subscribers AS s ON s.environment_id = n.environment_id AND s.id = n.subscriber_id
    WHERE n.environment_id = :environment_id AND n.id = :run_id
""")


async def insert_answer(db: Connection, environment_id: EnvironmentId, answer: RunAnswer) -> bool:
    """Insert an answer, unless the question has one; returns whether it is the first."""
    row: tuple[Any, ...] = (
        *(environment_id, answer.run_id, answer.step_id, answer.subscriber_id, answer.choice, answer.label),
        *(answer.way, answer.at),
    )
    return await db.insert_many(ANSWERS, [row]) == 1


async def list_answers(
    db: Connection, environment_id: EnvironmentId, run_ids: Collection[NotificationId]
) -> dict[tuple[NotificationId, bytes], RunAnswer]:
    """The answers of runs, by the run and the id of the step that asked."""
    rows = await db.fetch(LIST_ANSWERS, environment_id=environment_id, run_ids=sorted(run_ids)) if run_ids else ()
    return {(row["notification_id"], row["step_id"]): _answer(row) for row in rows}


async def delete_answers(db: Connection, environment_id: EnvironmentId, run_ids: Collection[NotificationId]) -> None:
    """Delete the answers of runs that are deleted."""
    if run_ids:
        await db.execute(DELETE_ANSWERS, environment_id=environment_id, run_ids=sorted(run_ids))


async def has_person(db: Connection, environment_id: EnvironmentId, subscriber_id: SubscriberId) -> bool:
    """Whether a person exists, in an environment that is not being deleted."""
    return await db.fetch_one(FIND_PERSON, environment_id=environment_id, subscriber_id=subscriber_id) is not None


def _answer(row: Row) -> RunAnswer:
    return RunAnswer(
        run_id=row["notification_id"],
        step_id=row["step_id"],
        subscriber_id=row["subscriber_id"],
        by=row["key"],
        choice=row["choice"],
        label=row["label"],
        way=AnswerWay(row["way"]),
        at=row["answered_at"],
    )
