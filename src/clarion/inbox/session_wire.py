"""Shapes of sessions."""

from typing import Annotated, Self

from msgspec import UNSET, Meta, UnsetType

from clarion.http.contexts import ContextsIn
from clarion.http.wire import SubscriberKeyText, Timezone, Wire
from clarion.inbox.sessions import BegunSession
from clarion.messages.model import MAX_SNOOZE_HOURS
from clarion.preferences.wire import Schedule
from clarion.subscribers.wire import SubscriberPatch
from clarion.vocabulary import Severity

HashText = Annotated[str, Meta(max_length=256)]


class BrowserTimezone(Timezone):
    __slots__ = ()
    RULE = "must be a time zone such as Europe/Athens; one that is not known here is ignored"

    @classmethod
    def accepts(cls, text: str) -> bool:
        # The page did not choose it, and a browser may know zones that are not known here.
        return len(text) <= 255

    @property
    def is_known(self) -> bool:
        return Timezone.accepts(self)


class SessionSubscriber(SubscriberPatch):
    subscriber_id: SubscriberKeyText
    timezone: BrowserTimezone | UnsetType | None = UNSET


class SessionIn(Wire):
    """The person is `subscriber`, or just `subscriberId`."""

    application_identifier: Annotated[str, Meta(max_length=255)]
    subscriber: SessionSubscriber | UnsetType = UNSET
    subscriber_id: SubscriberKeyText | UnsetType = UNSET
    subscriber_hash: HashText | UnsetType | None = UNSET
    default_schedule: Schedule | UnsetType | None = UNSET
    context: ContextsIn | UnsetType | None = UNSET
    context_hash: HashText | UnsetType | None = UNSET


class UnreadCountOut(Wire):
    total: int
    severity: dict[Severity, int]


class SessionOut(Wire):
    token: str
    total_unread_count: int
    unread_count: UnreadCountOut
    remove_novu_branding: bool
    is_development_mode: bool
    max_snooze_duration_hours: int
    application_identifier: str
    context_keys: list[str]

    @classmethod
    def of(cls, begun: BegunSession, token: str) -> Self:
        total = begun.counts.total_unread
        return cls(
            token=token,
            total_unread_count=total,
            unread_count=UnreadCountOut(total=total, severity=begun.counts.unread),
            remove_novu_branding=True,
            is_development_mode=begun.environment.is_development,
            max_snooze_duration_hours=MAX_SNOOZE_HOURS,
            application_identifier=begun.environment.identifier,
            context_keys=list(begun.session.context_keys),
        )
