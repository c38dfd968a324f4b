"""Cryptographically random bytes, read from the system in large blocks because each read releases the GIL."""

import os
from io import BytesIO

_BLOCK_BYTES = 4096


class _RandomPool:
    def __init__(self) -> None:
        self._block = BytesIO()
        # A forked process must not return the same bytes.
        os.register_at_fork(after_in_child=self.__init__)  # type: ignore[misc]

    def take(self, count: int) -> bytes:
        # Without a lock, which would take longer than the rest: no two reads of a block return the same bytes.
        taken = self._block.read(count)
        if len(taken) < count:
            block = BytesIO(os.urandom(max(_BLOCK_BYTES, count)))
            taken = block.read(count)
            self._block = block
        return taken


random_bytes = _RandomPool().take
