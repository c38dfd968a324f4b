"""Triggers as asked for, before anything is looked up."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.contexts.model import Contexts, read_contexts
from clarion.errors import Forbidden
from clarion.http.caller import Caller
from clarion.http.input.unknown import InputWarning
from clarion.ids import EnvironmentId, NotificationId
from clarion.monitoring.traces.model import TraceContext
from clarion.triggers.model import AddressedPerson, ZoneTarget
from clarion.triggers.recipients import Wanted, read_actor, read_recipients, segments_of
from clarion.triggers.wire import BroadcastIn, TriggerIn
from clarion.vocabulary import Scope


class TriggerRequest(Struct, frozen=True, kw_only=True):
    """A trigger as asked for; `wanted` is None for everyone."""

    environment_id: EnvironmentId
    name: str
    wanted: Wanted | None
    payload: dict[str, Any]
    overrides: dict[str, Any] | None
    transaction: str | None
    actor: AddressedPerson | None
    contexts: Contexts | None = None
    keeps_contexts: bool = False
    """Whether data of contexts that do not exist holds for this trigger alone, and none is stored."""
    send_at: Millis | None = None
    """When its runs are to begin; None: at once."""
    expires_at: Millis | None = None
    """When what has not begun is not done any more."""
    trace: TraceContext | None = None
    """Of the request's span; None unless it is traced."""
    keeps_fields: bool = False
    """Whether what is said of people holds for this trigger alone."""
    warnings: Sequence[str] = ()
    """What the response warns of."""
    zone: ZoneTarget | None = None
    """Only for the people in this time zone; those who are named are chosen already."""
    caused_by: NotificationId | None = None
    """The run whose step triggers; None for callers."""

    @property
    def has_context_data(self) -> bool:
        """Whether the caller gives data of a context."""
        return self.contexts is not None and any("data" in one for one in self.contexts.values())

    def list_described(self) -> list[str]:
        """Which of `to` and `actor` say something of people besides their keys."""
        described = []
        for one in self.wanted or ():
            if isinstance(one, AddressedPerson) and one.fields:
                described.append("to")
                break
        if self.actor is not None and self.actor.fields:
            described.append("actor")
        return described


def read_request(
    environment_id: EnvironmentId,
    body: TriggerIn | BroadcastIn,
    warnings: list[InputWarning],
    trace: TraceContext | None = None,
) -> TriggerRequest:
    """The trigger that is asked for; raises Invalid with every bad entry. Unknown members of people are warned of."""
    return TriggerRequest(
        environment_id=environment_id,
        name=body.name,
        wanted=read_recipients(body.to, warnings) if isinstance(body, TriggerIn) else None,
        payload=body.payload or {},
        overrides=body.overrides,
        transaction=body.transaction_id,
        actor=read_actor(body.actor, warnings),
        contexts=read_contexts(body.context) if body.context else None,
        send_at=None if body.send_at is None else body.send_at.moment,
        expires_at=None if body.expires_at is None else body.expires_at.moment,
        trace=trace,
    )


def check_segments_scope(caller: Caller, request: TriggerRequest) -> None:
    """Raise Forbidden if the trigger is for segments, and the caller may not see these."""
    if segments_of(request.wanted or ()) and not caller.has_scope(Scope.SEGMENTS_READ):
        raise Forbidden(f"This API key lacks the scope '{Scope.SEGMENTS_READ}', which a trigger for segments needs")
