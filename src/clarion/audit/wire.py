"""Shapes of the audit log."""

from typing import Any, Self

from msgspec import UNSET, UnsetType, field

from clarion.audit.model import Action, Actor, ActorType, AuditTarget, Entry, TargetType
from clarion.clock import iso_text
from clarion.http.pages import CursorQuery
from clarion.http.wire import DateTimeText, MomentText, Wire, given
from clarion.ids import id_text


class AuditQuery(CursorQuery):
    """All given filters must match; of several actions, one suffices. `from` and `to` are inclusive."""

    action: tuple[Action, ...] = ()
    """Only changes of this kind, or of any of several."""
    target_type: TargetType | None = None
    """Only changes of things of this kind."""
    target_id: str | None = None
    """Only changes of the thing with this id."""
    actor_type: ActorType | None = None
    """Only changes by callers of this kind."""
    actor_id: str | None = None
    """Only changes by the API key or member with this id."""
    request_id: str | None = None
    since: MomentText | None = field(name="from", default=None)
    """Only changes at this moment or later."""
    until: MomentText | None = field(name="to", default=None)
    """Only changes at this moment or earlier."""


class AuditActorOut(Wire):
    """Who made the change: `id` is that of an API key or a member, `name` the name at that time."""

    type: ActorType
    """What kind of caller it was."""
    id: str | UnsetType = UNSET
    """The id of the API key or member; absent for others."""
    name: str | UnsetType = UNSET
    """The name of the caller at that time."""

    @classmethod
    def of(cls, actor: Actor) -> Self:
        return cls(type=actor.type, id=given(actor.id), name=given(actor.name))


class AuditTargetOut(Wire):
    """What was changed, by the id that the API uses."""

    type: TargetType
    """What kind of thing it is."""
    id: str
    """The id by which the API names it."""
    name: str | UnsetType = UNSET
    """The name of the thing at that time."""

    @classmethod
    def of(cls, target: AuditTarget) -> Self:
        return cls(type=target.type, id=target.id, name=given(target.name))


class AuditEntryOut(Wire):
    """A change. `before` and `after` have the members that differ; `********` stands for a secret."""

    id: str = field(name="_id")
    action: Action
    """What was done."""
    actor: AuditActorOut
    """Who did it."""
    target: AuditTargetOut
    """What it was done to."""
    before: dict[str, Any] | UnsetType = UNSET
    """The members that differ, as they were; `********` stands for a secret. Absent for new things."""
    after: dict[str, Any] | UnsetType = UNSET
    """The members that differ, as they are now; `********` stands for a secret. Absent for deleted things."""
    request_id: str | UnsetType = UNSET
    created_at: DateTimeText

    @classmethod
    def of(cls, entry: Entry) -> Self:
        return cls(
            id=id_text(entry.id),
            action=entry.action,
            actor=AuditActorOut.of(entry.author.actor),
            target=AuditTargetOut.of(entry.target),
            before=given(entry.before),
            after=given(entry.after),
            request_id=given(entry.author.request_id),
            created_at=iso_text(entry.created_at),
        )
