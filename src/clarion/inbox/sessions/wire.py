"""Shapes of sessions."""

from typing import Annotated, Self

from msgspec import UNSET, Meta, UnsetType

from clarion.contexts.wire import ContextsIn
from clarion.http.wire import SubscriberKeyText, Timezone, Wire
from clarion.inbox.sessions.beginning import BegunSession
from clarion.messages.model import MAX_SNOOZE_HOURS
from clarion.preferences.wire import Schedule
from clarion.subscribers.wire import SubscriberPatch
from clarion.templates.locales import html_lang
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
    """The identifier of the environment, which is no secret."""
    subscriber: SessionSubscriber | UnsetType = UNSET
    """The person, with fields to store; an unknown person is created."""
    subscriber_id: SubscriberKeyText | UnsetType = UNSET
    """The `subscriberId`, where there is nothing else to say about the person."""
    subscriber_hash: HashText | UnsetType | None = UNSET
    """The HMAC that proves who the person is; required if the in-app integration has `hmac`."""
    default_schedule: Schedule | UnsetType | None = UNSET
    """The schedule of a person who has none yet."""
    context: ContextsIn | UnsetType | None = UNSET
    """The context whose notifications the inbox shows, such as `{"tenant": "acme"}`."""
    context_hash: HashText | UnsetType | None = UNSET
    """The HMAC that proves the context; required with one if the in-app integration has `hmac`."""


class UnreadCountOut(Wire):
    total: int
    """How many unread notifications there are, up to 100."""
    severity: dict[Severity, int]
    """How many of them there are of each severity."""


class SessionOut(Wire):
    token: str
    """The token of the session, for `Authorization: Bearer <token>`."""
    total_unread_count: int
    """How many unread notifications there are, up to 100."""
    unread_count: UnreadCountOut
    """The unread notifications by severity."""
    remove_novu_branding: bool
    """Always true; published components then show no advertisement."""
    is_development_mode: bool
    """Whether the environment is one for development."""
    max_snooze_duration_hours: int
    """How far ahead a notification can be snoozed."""
    application_identifier: str
    """The identifier of the environment."""
    context_keys: list[str]
    locale: str | UnsetType = UNSET
    """The language of the person as HTML has it, such as `de-DE`; absent if none is known."""

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
            locale=UNSET if begun.locale is None else html_lang(begun.locale),
        )
