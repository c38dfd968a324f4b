"""Shapes of the audit log."""

from typing import Any, Self

from msgspec import UNSET, UnsetType, field

from clarion.audit.model import Action, Actor, ActorType, Entry, Target, TargetType
from clarion.clock import iso_text
from clarion.http.pages import CursorQuery
from clarion.http.wire import DateTimeText, MomentText, Wire, given
from clarion.ids import id_text


class AuditQuery(CursorQuery):
    """All given filters must match; of several actions, one suffices. `from` and `to` are inclusive."""

    action: tuple[Action, ...] = ()
    target_type: TargetType | None = None
    target_id: str | None = None
    actor_type: ActorType | None = None
    actor_id: str | None = None
    request_id: str | None = None
    since: MomentText | None = field(name="from", default=None)
    until: MomentText | None = field(name="to", default=None)


class AuditActorOut(Wire):
    """Who made the change: `id` is that of an API key or a member, `name` the name at that time."""

    type: ActorType
    id: str | UnsetType = UNSET
    name: str | UnsetType = UNSET

    @classmethod
    def of(cls, actor: Actor) -> Self:
        return cls(type=actor.type, id=given(actor.id), name=given(actor.name))


class AuditTargetOut(Wire):
    """What was changed, by the id that the API uses."""

    type: TargetType
    id: str
    name: str | UnsetType = UNSET

    @classmethod
    def of(cls, target: Target) -> Self:
        return cls(type=target.type, id=target.id, name=given(target.name))


class AuditEntryOut(Wire):
    """A change. `before` and `after` have the members that differ; `********` stands for a secret."""

    id: str = field(name="_id")
    action: Action
    actor: AuditActorOut
    target: AuditTargetOut
    before: dict[str, Any] | UnsetType = UNSET
    after: dict[str, Any] | UnsetType = UNSET
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
