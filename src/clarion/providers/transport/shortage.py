"""Lack of file descriptors in this process or machine, which says nothing about the provider."""

import errno

from clarion.providers.definition.result import FailureKind, SendFailure

# Only errors of opening a socket: nothing has been sent then.
_SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE})


def find_shortage(error: BaseException) -> SendFailure | None:
    """Return the failure if no socket could be opened, or None if the error has another cause."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in _SHORTAGES:
            return SendFailure(FailureKind.NO_CONNECTION, f"No connection can be opened here: {cause.strerror}")
        cause = cause.__cause__ or cause.__context__
    return None
