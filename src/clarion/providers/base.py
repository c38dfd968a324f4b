"""What a provider is: which channel it carries, and which credentials it needs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from clarion.vocabulary import Channel

Check = Callable[[Any], str | None]
"""Tells what is wrong with a credential, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One provider of the registry; credential names are those of the wire."""

    id: str
    name: str
    channel: Channel
    required: tuple[str, ...] = ()

    def problems(self, credentials: Mapping[str, Any], checks: Mapping[str, Check]) -> dict[str, str]:
        """What keeps these credentials from working, by name: missing ones, and ones that are not well-formed."""
        found = {name: "is required by this provider" for name in self.required if not credentials.get(name)}
        for name, value in credentials.items():
            problem = checks[name](value) if name in checks and value and name not in found else None
            if problem is not None:
                found[name] = problem
        return found
