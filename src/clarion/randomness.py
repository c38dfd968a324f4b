"""Cryptographically random bytes, read from the system in large blocks because each read releases the GIL."""

import os
import threading

_BLOCK_BYTES = 4096


class _RandomPool:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._block = b""
        self._used = 0
        # A forked process must not return the same bytes.
        os.register_at_fork(after_in_child=self.__init__)  # type: ignore[misc]

    def take(self, count: int) -> bytes:
        with self._lock:
            start, end = self._used, self._used + count
            if end > len(self._block):
                self._block = os.urandom(max(_BLOCK_BYTES, count))
                start, end = 0, count
            self._used = end
            return self._block[start:end]


random_bytes = _RandomPool().take
