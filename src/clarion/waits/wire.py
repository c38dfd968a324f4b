"""Shapes of events that applications emit."""

from typing import Annotated, Any, ClassVar, Self

from msgspec import UNSET, Meta, UnsetType, field

from clarion.errors import Invalid
from clarion.http.wire import CheckedText, SubscriberKeyText, TopicKeyText, Wire
from clarion.ids import EnvironmentId, SubscriberKey
from clarion.jsontext import json_text
from clarion.waits.actions import Emitted, Occurrence
from clarion.waits.model import NAME, NAME_RULE, RESERVED

MAX_PEOPLE = 100
MAX_DATA_BYTES = 16 * 1024


class EventNameText(CheckedText):
    __slots__ = ()
    RULE: ClassVar[str] = f"{NAME_RULE}; those that begin with {' or '.join(RESERVED)} are emitted by Clarion alone"
    EXAMPLE = "order.paid"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return NAME.fullmatch(text) is not None and not text.startswith(RESERVED)


class EmitIn(Wire, forbid_unknown_fields=True):
    name: EventNameText
    """What happened, by the name that steps wait for."""
    to: str | Annotated[list[str], Meta(min_length=1, max_length=MAX_PEOPLE)] | UnsetType = UNSET
    """The `subscriberId` of the person to whom it happened, or several. Exactly one of `to`, `topic`, `everyone`."""
    topic: TopicKeyText | UnsetType = UNSET
    """The key of a topic: it happened to all members."""
    everyone: bool = False
    """Whether it happened to all subscribers of the environment."""
    data: dict[str, Any] = field(default_factory=dict)
    """What the conditions of steps compare and later steps show; up to 16 KB of JSON."""
    id: Annotated[str, Meta(min_length=1, max_length=255)] | UnsetType = UNSET
    """Your own id of the event: emitted again within an hour, it is not offered again."""

    @property
    def people(self) -> list[SubscriberKey]:
        """Those of `to`, each once; raises Invalid."""
        if isinstance(self.to, UnsetType):
            return []
        wanted = self.to if isinstance(self.to, list) else [self.to]
        for number, key in enumerate(wanted):
            if not SubscriberKeyText.accepts(key):
                raise Invalid.field(f"to.{number}" if isinstance(self.to, list) else "to", SubscriberKeyText.RULE, key)
        return list(dict.fromkeys(map(SubscriberKey, wanted)))

    def occurrence(self, environment_id: EnvironmentId) -> Occurrence:
        own_id = None if isinstance(self.id, UnsetType) else self.id
        return Occurrence(environment_id=environment_id, name=str(self.name), data=self.data, id=own_id)

    @property
    def data_bytes(self) -> int:
        return len(json_text(self.data).encode())


class EmittedOut(Wire):
    acknowledged: bool
    """Always true; the other members say what came of it."""
    emitted: int
    """How many events are new: one for each person, or one for a topic or everyone; 0 if it was emitted before."""
    awaited: bool
    """Whether a step of a workflow waits for events of this name; if none does, nothing is stored."""
    unknown: list[str]
    """Those of `to` who do not exist: nothing can wait for them."""

    @classmethod
    def of(cls, emitted: Emitted) -> Self:
        return cls(
            acknowledged=True, emitted=emitted.count, awaited=emitted.is_awaited, unknown=[*map(str, emitted.unknown)]
        )
