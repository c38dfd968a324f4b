"""Events that happen in a simulation: those that the application would emit, and what becomes of messages."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from msgspec import Struct

from clarion.answers.actions import AlreadyAnswered, NoQuestion, QuestionClosed, WantedAnswer, give_answer
from clarion.answers.model import ANSWER_GIVEN, AnswerWay
from clarion.clock import Millis
from clarion.db.port import Sandbox
from clarion.db.query import sql
from clarion.errors import Invalid
from clarion.ids import EnvironmentId, SubscriberKey
from clarion.jobs.lanes import ALL_LANES
from clarion.simulate.model import SimulatedEvent
from clarion.simulate.store import copy_people, list_people
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import find_subscriber
from clarion.triggers.model import Trigger
from clarion.vault import Vault
from clarion.waits.actions import Occurrence, emit_to_people
from clarion.waits.matcher import offer_events
from clarion.waits.message_events import emit_message_events
from clarion.webhooks.model import EventType
from clarion.workflows.model import Step
from clarion.workflows.store import list_versions_by_id

LIST_MESSAGES = sql("""
    SELECT m.id FROM messages AS m
    JOIN subscribers AS s ON s.environment_id = m.environment_id AND s.id = m.subscriber_id
    WHERE m.environment_id = :environment_id AND m.trigger_id = :trigger_id AND m.step_id = :step_id
    AND s.key {any:keys} ORDER BY m.id
""")
LIST_RUNS = sql("""
    SELECT n.id FROM notifications AS n
    JOIN subscribers AS s ON s.environment_id = n.environment_id AND s.id = n.subscriber_id
    WHERE n.environment_id = :environment_id AND n.trigger_id = :trigger_id AND s.key {any:keys} ORDER BY n.id
""")
_MARK: Final = """
    UPDATE messages SET {columns} WHERE environment_id = :environment_id AND id {{any:ids}} AND channel = 'in_app'
"""
MARKS: Final = {
    EventType.MESSAGE_SEEN: sql(_MARK.format(columns="seen = TRUE, seen_at = :now")),
    EventType.MESSAGE_READ: sql(_MARK.format(columns="seen = TRUE, seen_at = :now, read = TRUE, read_at = :now")),
}


class Happening(Struct, frozen=True, kw_only=True):
    """A trigger in a sandbox, to whose people things happen."""

    db: Sandbox
    trigger: Trigger
    vault: Vault

    @property
    def _environment_id(self) -> EnvironmentId:
        return self.trigger.environment_id

    async def let_happen(self, event: SimulatedEvent, now: Millis) -> None:
        """Let an event happen to those of the people whom it is about, and offer it to the steps that wait."""
        people = await list_people(self.db, self._environment_id)
        keys = [key for key in people if event.subscriber_key in (None, key)]
        if event.name == ANSWER_GIVEN:
            await self._answer(event, keys, now)
            return
        if event.step_id is None:
            happened = Occurrence(environment_id=self._environment_id, name=event.name, data=event.data)
            await emit_to_people(self.db, happened, keys, now)
        else:
            await self._happen_to_messages(event, event.step_id, keys, now)
        while await offer_events(self.db, self._environment_id, ALL_LANES, now):
            pass

    async def _answer(self, event: SimulatedEvent, keys: Sequence[SubscriberKey], now: Millis) -> None:
        """Answer the question of each of these people; one that is answered already, or closed, stays so."""
        scope = {"environment_id": self._environment_id, "trigger_id": self.trigger.id}
        by = await self._find_answerer(event)
        for row in await self.db.fetch(LIST_RUNS, **scope, keys=list(keys)):
            wanted = WantedAnswer(
                run_id=row["id"],
                reference=str(event.step_id),
                choice=event.data["answer"],
                by=by,
                way=AnswerWay.LINK,
            )
            try:
                with suppress(AlreadyAnswered, QuestionClosed):
                    await give_answer(self.db, self._environment_id, wanted, vault=self.vault, now=now)
            except NoQuestion as problem:
                raise _name_problem(event, problem) from None

    async def _find_answerer(self, event: SimulatedEvent) -> Subscriber | None:
        if "by" not in event.data:
            return None
        key = SubscriberKey(event.data["by"])
        await copy_people(self.db, self._environment_id, [key])
        person = await find_subscriber(self.db, self._environment_id, key)
        if person is None:
            message = "must be the subscriberId of a subscriber that exists"
            raise Invalid.field(f"events.{event.number}.data.by", message, event.data["by"])
        return person

    async def _happen_to_messages(
        self, event: SimulatedEvent, step_id: str, keys: Sequence[SubscriberKey], now: Millis
    ) -> None:
        step = await self._get_step(event, step_id)
        scope = {"environment_id": self._environment_id}
        rows = await self.db.fetch(
            LIST_MESSAGES, **scope, trigger_id=self.trigger.id, step_id=step.id_bytes, keys=list(keys)
        )
        ids, kind = [row["id"] for row in rows], EventType(event.name)
        if kind in MARKS and ids:
            await self.db.execute(MARKS[kind], **scope, ids=ids, now=now)
        events = [(kind, message_id) for message_id in ids]
        details = dict.fromkeys(ids, event.data)
        await emit_message_events(self.db, self._environment_id, events, now, details=details)

    async def _get_step(self, event: SimulatedEvent, step_id: str) -> Step:
        versions = await list_versions_by_id(self.db, self._environment_id, [self.trigger.version_id])
        step = versions[self.trigger.version_id].find_step(step_id)
        if step is None or step.channel is None:
            path = f"events.{event.number}.stepId"
            raise Invalid.field(path, "must be the stepId of a step of the workflow that sends messages", step_id)
        return step


def _name_problem(event: SimulatedEvent, problem: NoQuestion) -> Invalid:
    if problem.missing == "choice":
        choices = ", ".join(problem.choices)
        return Invalid.field(f"events.{event.number}.data.answer", f"must be one of {choices}", event.data["answer"])
    message = "must be the stepId of a step of the workflow that asks"
    return Invalid.field(f"events.{event.number}.stepId", message, event.step_id)
