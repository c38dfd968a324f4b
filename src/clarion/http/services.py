"""What all operations of a process share."""

from typing import TypeVar

from msgspec import Struct, field

from clarion.bus import Bus
from clarion.clock import Clock
from clarion.http.streams import Broadcasts
from clarion.limits.limiter import RateLimiter
from clarion.monitoring.metrics import Measures
from clarion.monitoring.traces.tracer import Tracer
from clarion.providers.builtin import BuiltinNames
from clarion.providers.sending.gateway import ProviderGateway
from clarion.settings.model import Settings
from clarion.vault import Vault

T = TypeVar("T")


class Shared:
    """One object of each type, put in by rooms whose types cannot be imported here."""

    def __init__(self) -> None:
        self._objects: dict[type, object] = {}

    def put(self, kind: type[T], one: T) -> None:
        self._objects[kind] = one

    def get(self, kind: type[T]) -> T:
        shared = self._objects[kind]
        if not isinstance(shared, kind):
            raise TypeError(f"{shared!r} is not a {kind.__name__}")
        return shared


class Services(Struct, frozen=True, kw_only=True):
    """What all operations share, created once by the composition root."""

    settings: Settings
    clock: Clock
    vault: Vault
    names: BuiltinNames
    bus: Bus
    gateway: ProviderGateway
    limiter: RateLimiter
    tracer: Tracer | None = None
    """None unless traces are switched on."""
    measures: Measures = field(default_factory=Measures)
    shared: Shared = field(default_factory=Shared)
    streams: Broadcasts = field(default_factory=Broadcasts)
