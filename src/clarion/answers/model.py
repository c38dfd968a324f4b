"""Answers as records, and what a link to a question proves."""

from enum import StrEnum
from typing import Any, Final

from msgspec import Struct

from clarion.clock import DAY, Millis, iso_text
from clarion.content.links import LinkPurpose, LinkSecret, read_link, sign_link
from clarion.ids import NotificationId, SubscriberId, SubscriberKey

ANSWER_PATH: Final = "/answer"
ANSWER_GIVEN: Final = "answer.given"
"""The event that a step which asks waits for."""
LINKS_LAST: Final = Millis(180 * DAY)
"""A link is good while its question is open, and not for longer than this after it was made."""

_EXPIRY_BYTES: Final = 6
_HEAD: Final = 16 + 16 + 16 + _EXPIRY_BYTES


class AnswerWay(StrEnum):
    """How an answer was given; stored with it."""

    LINK = "link"
    INBOX = "inbox"
    API = "api"


class AnswerTarget(Struct, frozen=True):
    """Who would answer which question of which run, and how; until when a link says so."""

    run_id: NotificationId
    step_id: bytes
    subscriber_id: SubscriberId
    choice: str
    expires_at: Millis


class RunAnswer(Struct, frozen=True, kw_only=True):
    """The answer to a question of a run."""

    run_id: NotificationId
    step_id: bytes
    subscriber_id: SubscriberId | None
    """Who answered; None: was erased since."""
    by: SubscriberKey | None = None
    choice: str
    label: str
    way: AnswerWay
    at: Millis

    @property
    def outputs(self) -> dict[str, Any]:
        """What later steps see."""
        return {"answer": self.choice, "label": self.label, "by": self.by, "at": iso_text(self.at)}


NO_ANSWER: Final[dict[str, Any]] = {"answer": None, "label": None, "by": None, "at": None}
"""What later steps see of a question that nobody answered in time."""


def sign_answer(secret: LinkSecret, target: AnswerTarget) -> str:
    data = target.run_id + target.step_id + target.subscriber_id
    data += target.expires_at.to_bytes(_EXPIRY_BYTES) + target.choice.encode()
    return sign_link(secret, LinkPurpose.ANSWER, data)


def read_answer_target(secret: LinkSecret, token: str) -> AnswerTarget | None:
    """Return what a token is about; None if it is not of this environment, or not for this purpose."""
    data = read_link(secret, LinkPurpose.ANSWER, token)
    if data is None or len(data) <= _HEAD:
        return None
    return AnswerTarget(
        run_id=NotificationId(data[:16]),
        step_id=data[16:32],
        subscriber_id=SubscriberId(data[32:48]),
        choice=data[_HEAD:].decode(),
        expires_at=Millis(int.from_bytes(data[48:_HEAD])),
    )
