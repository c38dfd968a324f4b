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
    """What people call the new topic."""


class OwnSubscriptionIn(SubscriptionPatch):
    """An empty or absent `identifier` stands for the default one."""

    identifier: SubscriptionIdentifier | UnsetType | None = UNSET
    """Names the subscription; an empty or absent one stands for the default."""
    topic: NewTopicIn | UnsetType = UNSET
    """What a topic gets that does not exist yet."""


class OwnSubscriptionQuery(Wire):
    """The workflows whose preferences are shown; without any, those that the subscription has rules for."""

    workflow_ids: References = field(default_factory=list)
    """The identifiers or `_id`s of workflows whose preferences are shown."""
    tags: References = field(default_factory=list)
    """Workflows with one of these tags are shown too."""


class SuccessOut(Wire):
    success: bool
    """Always true; refusals are errors."""
