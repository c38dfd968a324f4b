"""Buttons that answer a question: whoever uses one in their inbox gives its answer, without a page."""

from typing import Any

from clarion.answers.actions import AlreadyAnswered, NoQuestion, QuestionClosed, WantedAnswer, give_answer
from clarion.answers.model import AnswerWay
from clarion.bus import Signal
from clarion.clock import iso_text
from clarion.db.query import sql
from clarion.errors import AlreadyExists, Gone
from clarion.http.operation import Call
from clarion.ids import MessageId
from clarion.jsontext import json_value
from clarion.subscribers.model import Subscriber

FIND_BUTTONS = sql("""
    SELECT notification_id, cta FROM messages
    WHERE environment_id = :environment_id AND id = :id AND subscriber_id = :subscriber_id AND channel = 'in_app'
""")


async def answer_by_button(call: Call, person: Subscriber, message_id: MessageId, button: str) -> None:
    """Give the answer that a button stands for, if it stands for one; raises AlreadyExists or Gone if it is too late.

    It comes before the change of the message: whoever answers takes the lane of the person, and lanes go before rows.
    """
    scope = {"environment_id": call.environment_id, "id": message_id, "subscriber_id": person.id}
    row = await call.db.fetch_one(FIND_BUTTONS, **scope)
    step_id, choice = _find_answer({} if row is None else json_value(row["cta"]) or {}, button)
    if row is None or not choice:
        return
    wanted = WantedAnswer(
        run_id=row["notification_id"], reference=step_id, choice=choice, by=person, way=AnswerWay.INBOX
    )
    try:
        await give_answer(call.db, call.environment_id, wanted, vault=call.services.vault, now=call.now)
    except AlreadyAnswered as problem:
        if (problem.answer.subscriber_id, problem.answer.choice) == (person.id, choice):
            return
        raise AlreadyExists(f"The question was answered at {iso_text(problem.answer.at)}") from None
    except (NoQuestion, QuestionClosed):
        raise Gone("The question takes no answer any more: its time is over, or its run has ended") from None
    call.after_commit.append(lambda: call.services.bus.publish(Signal.WORK))


def _find_answer(cta: dict[str, Any], button: str) -> tuple[str, str]:
    """The stepId and the choice that a button answers with; empty if it answers nothing."""
    buttons = (cta.get("action") or {}).get("buttons") or []
    found = next((one.get("answer") for one in buttons if one.get("type") == button), None)
    step_id, _, choice = str(found or "").rpartition(".")
    return step_id, choice
