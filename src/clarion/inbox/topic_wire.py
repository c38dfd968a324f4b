"""Shapes of the topic subscriptions of a session's subscriber."""

from typing import ClassVar

from msgspec import UNSET, UnsetType, field

from clarion.http.wire import CheckedText, Wire
from clarion.preferences.topic_wire import References, SubscriptionPatch
from clarion.topics.wire import TopicName


class SubscriptionIdentifier(CheckedText):
    __slots__ = ()
    RULE = "must have at most 512 characters, no control characters and no white space at its ends"
    EXAMPLE = "weekly-digest"
    MAX_LENGTH: ClassVar[int] = 512

    @classmethod
    def accepts(cls, text: str) -> bool:
        return len(text) <= cls.MAX_LENGTH and (not text or text.isprintable()) and text.strip() == text


class NewTopicIn(Wire):
    """Used if the topic does not exist yet."""

    name: TopicName | UnsetType | None = UNSET


class OwnSubscriptionIn(SubscriptionPatch):
    """An empty or absent `identifier` stands for the default one."""

    identifier: SubscriptionIdentifier | UnsetType | None = UNSET
    topic: NewTopicIn | UnsetType = UNSET


class OwnSubscriptionQuery(Wire):
    """The workflows whose preferences are shown; without any, those that the subscription has rules for."""

    workflow_ids: References = field(default_factory=list)
    tags: References = field(default_factory=list)


class SuccessOut(Wire):
    success: bool
