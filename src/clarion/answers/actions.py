"""Gives answers: each question takes one, while no step of its person is being decided."""

from collections.abc import Sequence

from msgspec import Struct

from clarion.answers.model import ANSWER_GIVEN, AnswerTarget, AnswerWay, RunAnswer
from clarion.answers.questions import RunQuestion, find_question
from clarion.answers.store import FIND_KEY_OF_PERSON, insert_answer
from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.errors import ClarionError
from clarion.ids import EmittedEventId, EnvironmentId, NotificationId, id_text, new_id
from clarion.jobs.lanes import LaneSet, lane_of, lock_lanes
from clarion.subscribers.model import Subscriber
from clarion.vault import Vault
from clarion.waits.model import EmittedEvent
from clarion.waits.store import update_waits, wake_jobs


class NoQuestion(ClarionError):
    """There is no such run, it has no such step that asks, or the step has no such choice."""

    def __init__(self, missing: str, choices: Sequence[str] = ()) -> None:
        super().__init__(f"There is no such {missing}")
        self.missing, self.choices = missing, choices


class AlreadyAnswered(ClarionError):
    """The question has an answer already."""

    def __init__(self, question: RunQuestion, answer: RunAnswer) -> None:
        super().__init__("The question was answered before")
        self.question, self.answer = question, answer


class QuestionClosed(ClarionError):
    """The question takes no answer any more."""


class WantedAnswer(Struct, frozen=True, kw_only=True):
    """What somebody wants to answer."""

    run_id: NotificationId
    reference: str
    """The `stepId` or `_id` of the step that asks."""
    choice: str
    by: Subscriber | None
    """None: the person of the run."""
    way: AnswerWay

    @classmethod
    def of_target(cls, target: AnswerTarget, by: Subscriber) -> "WantedAnswer":
        reference = id_text(target.step_id)
        return cls(run_id=target.run_id, reference=reference, choice=target.choice, by=by, way=AnswerWay.LINK)


async def give_answer(
    db: Connection, environment_id: EnvironmentId, reply: WantedAnswer, *, vault: Vault, now: Millis
) -> tuple[RunQuestion, RunAnswer]:
    """Answer a question; raises NoQuestion, AlreadyAnswered or QuestionClosed."""
    await lock_lane_of_run(db, environment_id, reply.run_id)
    question = await find_question(db, environment_id, reply.run_id, reply.reference, vault=vault)
    if question is None:
        raise NoQuestion("step")
    label = question.find_label(reply.choice)
    if label is None:
        raise NoQuestion("choice", [one.value for one in question.choices])
    if question.answer is not None:
        raise AlreadyAnswered(question, question.answer)
    if not question.is_open(now):
        raise QuestionClosed("The question takes no answer any more")
    by = reply.by or question.run.subscriber
    answer = RunAnswer(
        run_id=reply.run_id,
        step_id=question.step.id_bytes,
        subscriber_id=by.id,
        by=by.key,
        choice=reply.choice,
        label=label,
        way=reply.way,
        at=now,
    )
    if not await insert_answer(db, environment_id, answer):
        raise QuestionClosed("The question takes no answer any more")
    await _wake(db, environment_id, question, answer)
    return question, answer


async def lock_lane_of_run(db: Connection, environment_id: EnvironmentId, run_id: NotificationId) -> None:
    """Take the lane of the person whose run it is; raises NoQuestion if there is no such run."""
    row = await db.fetch_one(FIND_KEY_OF_PERSON, environment_id=environment_id, run_id=run_id)
    if row is None:
        raise NoQuestion("run")
    await lock_lanes(db, environment_id, LaneSet.of([lane_of(row["key"])]))


async def _wake(db: Connection, environment_id: EnvironmentId, question: RunQuestion, answer: RunAnswer) -> None:
    """Let the step go on, if it waits; else it finds the answer when it is reached."""
    wait, job = question.wait, question.job
    if wait is None or job is None:
        return
    event = EmittedEvent(
        environment_id=environment_id,
        id=EmittedEventId(new_id(answer.at)),
        name=ANSWER_GIVEN,
        created_at=answer.at,
        # Who answered what is in the answer, from which an erasure can take it.
        data={"notificationId": id_text(answer.run_id), "jobId": id_text(job.id)},
        subscriber_id=question.run.subscriber.id,
    )
    if wait.take(event):
        await update_waits(db, environment_id, [wait])
        await wake_jobs(db, environment_id, [job.id], answer.at)
