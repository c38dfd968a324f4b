"""Every exception that is raised on purpose.

ClarionError
├── SettingsError         a setting is wrong: the process does not start
├── StoreError            the store cannot be used as it is
│   ├── StoreNewer        it was made by a newer program
│   ├── StoreOutdated     it lacks migrations
│   └── StoreUnavailable  unreachable, locked, full or shutting down: try again
├── TemplateProblem, ControlsProblem, SendFailure   why a step could not be done (in templates, workflows, providers)
└── RequestError          the caller can do something about it
    ├── Malformed         not what it claims to be (JSON, base64, two cursors)
    ├── Unauthenticated   no key, or not a valid one
    ├── Forbidden         a valid key without the scope
    ├── NotFound          no such thing in this environment
    ├── NoSuchRoute, MethodNotAllowed
    ├── AlreadyExists     the caller asked to fail in that case
    ├── InProgress        the same idempotency key is being worked on
    ├── TooLarge, NotJson
    ├── PayloadInvalid    a trigger's payload does not fit the workflow's schema
    └── Invalid           fields that are not valid, all of them
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct


class ClarionError(Exception):
    """The root: everything below is understood and has a sentence for people."""


class SettingsError(ClarionError):
    """A setting is wrong; the message is the one sentence that the operator reads."""


class StoreError(ClarionError):
    """The store cannot be used as it is."""


class StoreNewer(StoreError):
    """The store was written by a newer program than this one."""


class StoreOutdated(StoreError):
    """The store lacks migrations that this program needs."""


class StoreUnavailable(StoreError):
    """The store does not answer now; the same request may succeed later."""


class RequestError(ClarionError):
    """Something about one request; the message is sent to the caller."""

    def __init__(self, message: str, *, ctx: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.ctx = ctx


class Malformed(RequestError):
    """The request is not what it claims to be."""


class Unauthenticated(RequestError):
    """No key, or one that is unknown, revoked or expired."""


class Forbidden(RequestError):
    """A known key without the scope that the operation needs."""


class NotFound(RequestError):
    """Unknown, malformed or another environment's: the caller cannot tell which."""

    def __init__(self, thing: str, name: str) -> None:
        super().__init__(f"{thing} '{name}' does not exist in this environment")


class NoSuchRoute(RequestError):
    """No operation has this path."""


class MethodNotAllowed(RequestError):
    """The path exists, for other methods."""

    def __init__(self, method: str, allowed: list[str]) -> None:
        super().__init__(f"{method} is not allowed here; use {', '.join(allowed)}")
        self.allowed = allowed


class AlreadyExists(RequestError):
    """The caller asked for failure when the thing exists, and it does."""


class InProgress(RequestError):
    """A request with the same idempotency key has not finished."""


class TooLarge(RequestError):
    """The body is above the limit of its operation."""


class NotJson(RequestError):
    """The body is declared as something other than JSON."""


class PayloadInvalid(RequestError):
    """The payload breaks the JSON schema of its workflow; `violations` has every place."""

    def __init__(self, violations: Sequence[Any]) -> None:
        super().__init__("The payload does not fit the schema of the workflow")
        self.violations = violations


class Problem(Struct, frozen=True):
    """What is wrong with one field, and the value that was sent."""

    message: str
    value: Any = None


class Invalid(RequestError):
    """One or more fields are not valid; `problems` has them all, by path."""

    def __init__(self, problems: Mapping[str, list[Problem]], message: str | None = None) -> None:
        super().__init__(message or _summary(problems))
        self.problems = problems

    @classmethod
    def field(cls, path: str, message: str, value: Any = None) -> "Invalid":
        return cls({path: [Problem(message, value)]})


def _summary(problems: Mapping[str, list[Problem]]) -> str:
    if len(problems) == 1:
        (path, found), *_ = problems.items()
        return f"Validation Error: {path} {found[0].message}"
    return f"Validation Error: {len(problems)} fields are not valid: {', '.join(problems)}"
