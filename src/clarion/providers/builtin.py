"""Ids of the built-in providers: `svc…` in the database, with the configured prefix in the API."""

BUILTIN = frozenset({"svc", "svc-email", "svc-sms"})


_OF_PUBLISHED_CLIENTS = "novu"


class BuiltinNames:
    """Translates ids of built-in providers; all others stay as they are."""

    def __init__(self, word: str) -> None:
        self._to_wire = {name: word + name.removeprefix("svc") for name in BUILTIN}
        self._from_wire = {wire: name for name, wire in self._to_wire.items()}
        self.origin = f"{word}-cloud"
        self.has_all_steps = word != _OF_PUBLISHED_CLIENTS
        """Whether clients know all types of steps; published ones know those of the reference alone."""

    def to_wire(self, provider_id: str) -> str:
        return self._to_wire.get(provider_id, provider_id)

    def from_wire(self, provider_id: str) -> str | None:
        """Return the stored id, or None for a built-in id without the configured prefix."""
        if provider_id in self._from_wire:
            return self._from_wire[provider_id]
        return None if provider_id in BUILTIN else provider_id
