"""What a provider is: which channel it carries, and which credentials it needs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from clarion.vocabulary import Channel


class Rule(NamedTuple):
    """When a credential is well-formed, and the sentence for one that is not."""

    accepts: Callable[[str], bool]
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One provider of the registry; credential names are those of the wire."""

    id: str
    name: str
    channel: Channel
    required: tuple[str, ...] = ()
    rules: dict[str, Rule] = field(default_factory=dict)
    """Where this provider differs from the rules that hold for a credential by its name."""
