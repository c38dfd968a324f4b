"""What reading and writing promoted resources needs."""

from msgspec import Struct

from clarion.audit.model import Actor
from clarion.clock import Millis
from clarion.providers.builtin import BuiltinNames
from clarion.vault import Vault


class PromotionContext(Struct, frozen=True, kw_only=True):
    vault: Vault
    names: BuiltinNames
    now: Millis
    actor: Actor | None = None
    """Who promotes; None: not known."""
