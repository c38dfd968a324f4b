"""What reading and writing promoted resources needs."""

from msgspec import Struct

from clarion.clock import Millis
from clarion.providers.builtin.names import BuiltinNames
from clarion.vault import Vault


class PromotionContext(Struct, frozen=True, kw_only=True):
    vault: Vault
    names: BuiltinNames
    now: Millis
