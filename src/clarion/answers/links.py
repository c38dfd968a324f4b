"""The links with which people answer: made for the texts of messages, when a text asks for one."""

from collections.abc import Sequence
from typing import Any, Final

from clarion.answers.model import ANSWER_PATH, LINKS_LAST, AnswerTarget, sign_answer
from clarion.clock import Millis
from clarion.conditions.lazy import LazyText
from clarion.ids import NotificationId, SubscriberId
from clarion.preferences.unsubscribe.targets import SAMPLE, PersonalLinks
from clarion.workflows.model import Step

NAME: Final = "answers"
"""What templates see the links as: `answers.<stepId>.<choice>`."""


def make_answer_url(links: PersonalLinks, target: AnswerTarget) -> str:
    token = SAMPLE if links.secret is None else sign_answer(links.secret, target)
    return f"{links.base_url}{ANSWER_PATH}?token={token}"


def answer_variables(
    links: PersonalLinks, run_id: NotificationId, person: SubscriberId, questions: Sequence[Step], now: Millis
) -> dict[str, Any]:
    """The links of one person to all choices of these questions."""
    expires_at = Millis(now + LINKS_LAST)
    targets = {
        step.step_id: [AnswerTarget(run_id, step.id_bytes, person, choice, expires_at) for choice in step.choices]
        for step in questions
    }
    return {step_id: {target.choice: _make_lazy(links, target) for target in own} for step_id, own in targets.items()}


def make_sample_answers(public_url: str | None, questions: Sequence[Step]) -> dict[str, Any]:
    """What texts see as links to answer where nothing is sent."""
    if public_url is None:
        return {}
    url = f"{public_url.rstrip('/')}{ANSWER_PATH}?token={SAMPLE}"
    return {step.step_id: dict.fromkeys(step.choices, url) for step in questions}


def _make_lazy(links: PersonalLinks, target: AnswerTarget) -> LazyText:
    return LazyText(lambda: make_answer_url(links, target))
