"""All exceptions that are raised on purpose.

ClarionError
├── SettingsError         a setting is not valid: the process does not start
├── StoreError            the store cannot be used as it is
│   ├── StoreNewer        its schema is newer than this version
│   ├── StoreOutdated     it lacks migrations
│   ├── StoreInUse        other processes use it, and must be stopped first
│   └── StoreUnavailable  unreachable, locked, full or shutting down: try again
├── TemplateProblem, ControlsProblem, SendFailure   why a step failed (in templates, workflows, providers)
└── RequestError          an error of one request, sent to the caller
    ├── Malformed         cannot be parsed, or contradicts itself (JSON, base64, two cursors)
    ├── Unauthenticated   no key or session, or not a valid one
    ├── Forbidden         a valid key without the scope
    ├── NotFound          does not exist in this environment
    ├── NoSuchRoute, MethodNotAllowed
    ├── Gone              existed, and was deleted
    ├── AlreadyExists     and the caller asked to fail in that case
    ├── InUse             other resources refer to it, so that it cannot be deleted
    ├── PreconditionFailed  has changed since the caller read it
    ├── InProgress        the same idempotency key is being worked on
    ├── TooLarge, NotJson
    ├── RateLimited       more requests than a limit allows
    ├── Busy              more requests are waiting than the service works on
    ├── PayloadInvalid    a trigger's payload does not fit the workflow's schema
    └── Invalid           one or more fields are not valid
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from msgspec import Struct


class ClarionError(Exception):
    """The root of the hierarchy; each error has a message for people."""


class SettingsError(ClarionError):
    """A setting is not valid; the message is shown to the operator."""


class StoreError(ClarionError):
    """The store cannot be used as it is."""


class StoreNewer(StoreError):
    """The schema of the store is newer than this version."""


class StoreOutdated(StoreError):
    """The store lacks migrations that this version needs."""


class StoreInUse(StoreError):
    """Processes use the store that must be stopped first."""


class StoreUnavailable(StoreError):
    """The store cannot be used now; the same request may succeed later."""


class RequestError(ClarionError):
    """An error of one request; the message is sent to the caller."""

    def __init__(self, message: str, *, ctx: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.ctx = ctx


class Malformed(RequestError):
    """The request cannot be parsed or contradicts itself."""


class Unauthenticated(RequestError):
    """The API key, or the token of a session, is absent, unknown, revoked or expired; `scheme` is what to send."""

    def __init__(self, message: str, *, scheme: str = "ApiKey") -> None:
        super().__init__(message)
        self.scheme = scheme


class Forbidden(RequestError):
    """The API key is valid but lacks the scope of the operation."""


class NotFound(RequestError):
    """The id is unknown, malformed or of another environment; the message does not reveal which."""

    _ELSEWHERE: ClassVar = {
        "Environment": "within your reach; API keys name environments besides their own with 'organization:reach'"
    }

    def __init__(self, thing: str, name: str) -> None:
        super().__init__(f"{thing} '{name}' does not exist {self._ELSEWHERE.get(thing, 'in this environment')}")


class Gone(RequestError):
    """It existed, and was deleted."""


class NoSuchRoute(RequestError):
    """No operation has this path."""


class MethodNotAllowed(RequestError):
    """The path exists, but not with this method."""

    def __init__(self, method: str, allowed: list[str]) -> None:
        super().__init__(f"{method} is not allowed here; use {', '.join(allowed)}")
        self.allowed = allowed


class AlreadyExists(RequestError):
    """The resource exists, and the caller asked to fail in that case."""


class InUse(RequestError):
    """Other resources refer to it; the message names them."""


class PreconditionFailed(RequestError):
    """The resource has changed since the caller read it; `etag` is that of its present state, which `ctx` has."""

    def __init__(self, message: str, *, etag: str, ctx: Mapping[str, Any] | None = None) -> None:
        super().__init__(message, ctx=ctx)
        self.etag = etag


class InProgress(RequestError):
    """Another request is doing the same: one with the same idempotency key, or for the same resource."""


class TooLarge(RequestError):
    """The body exceeds the limit of its operation."""


class RateLimited(RequestError):
    """More requests than a limit allows; the same request may succeed after `retry_after` seconds."""

    def __init__(
        self,
        message: str,
        *,
        retry_after: int,
        headers: Sequence[tuple[bytes, bytes]] = (),
        ctx: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, ctx=ctx)
        self.retry_after = retry_after
        self.headers = headers
        """What the response says about the limit."""


class Busy(RequestError):
    """Too many requests are waiting; the same request may succeed later."""


class NotJson(RequestError):
    """The content type of the body is not JSON."""


class PayloadInvalid(RequestError):
    """The payload violates the JSON schema of its workflow; `violations` lists how."""

    def __init__(self, violations: Sequence[Any]) -> None:
        super().__init__("The payload does not fit the schema of the workflow")
        self.violations = violations


class Problem(Struct, frozen=True):
    """What is wrong with a field, and the value that was sent."""

    message: str
    value: Any = None


class Invalid(RequestError):
    """One or more fields are not valid; `problems` lists all of them by path."""

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
