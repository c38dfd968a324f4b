"""Unpredictable bytes, fetched from the system some thousand at a time: each fetch lets other threads go first."""

import os
import threading

_FETCHED = 4096


class _Supply:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left = b""
        self._place = 0
        # A copy of the process must not hand out the same bytes.
        os.register_at_fork(after_in_child=self.__init__)  # type: ignore[misc]

    def take(self, count: int) -> bytes:
        with self._lock:
            start, end = self._place, self._place + count
            if end > len(self._left):
                self._left = os.urandom(max(_FETCHED, count))
                start, end = 0, count
            self._place = end
            return self._left[start:end]


random_bytes = _Supply().take
