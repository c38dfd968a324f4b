"""Names of what is built in: kept as `svc…` in the store, spelled with the configured word on the wire."""

BUILTIN = frozenset({"svc", "svc-email", "svc-sms"})


class BuiltinNames:
    """Translates provider ids and origins; only the built-in ones differ."""

    def __init__(self, word: str) -> None:
        self._to_wire = {name: word + name.removeprefix("svc") for name in BUILTIN}
        self._from_wire = {wire: name for name, wire in self._to_wire.items()}
        self.origin = f"{word}-cloud"

    def to_wire(self, provider_id: str) -> str:
        return self._to_wire.get(provider_id, provider_id)

    def from_wire(self, provider_id: str) -> str | None:
        """The stored id, or None for a built-in name that is not spelled as configured."""
        if provider_id in self._from_wire:
            return self._from_wire[provider_id]
        return None if provider_id in BUILTIN else provider_id
