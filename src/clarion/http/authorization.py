"""Finds out who makes a request, and whether they may call its operation."""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from clarion.clock import Clock
from clarion.errors import Forbidden, Unauthenticated
from clarion.http.attempts import FailedAttempts
from clarion.http.caller import ANONYMOUS, Caller
from clarion.http.operation import Operation
from clarion.http.requests import Request
from clarion.http.static import Headers
from clarion.vocabulary import Scope

AuthenticateSession = Callable[[str | None], Caller]


class Authenticate(Protocol):
    """Finds out who sent an Authorization header; `is_suspect` if many failures came from the same address."""

    async def __call__(self, header: str | None, /, *, is_suspect: bool) -> Caller: ...


class AuthenticateMember(Protocol):
    """Finds the member whose cookie a request has, and the environment that it names if the operation needs one."""

    async def __call__(self, method: str, headers: Headers, /, *, in_environment: bool, is_suspect: bool) -> Caller: ...


class Authenticators(Struct, frozen=True, kw_only=True):
    """How each kind of caller is authenticated."""

    key: Authenticate
    session: AuthenticateSession
    """Of a subscriber."""
    member: AuthenticateMember


class Authorizer:
    """Authorizes requests by API keys, by sessions of subscribers, and by sessions of members."""

    def __init__(self, authenticators: Authenticators, clock: Clock, *, failed_keys_per_minute: int) -> None:
        self._authenticate = authenticators.key
        self._authenticate_session = authenticators.session
        self._authenticate_member = authenticators.member
        self._attempts = FailedAttempts(clock, failed_keys_per_minute)

    async def authorize(self, operation: Operation, request: Request) -> Caller:
        """Return who calls; raises Unauthenticated, or Forbidden if they may not."""
        if operation.scope is None and not operation.is_for_subscribers:
            return await self._authorize_member(operation, request) if operation.is_for_members else ANONYMOUS
        raw = request.headers.get(b"authorization")
        header = None if raw is None else raw.decode("latin-1")
        if operation.scope is None:
            caller = request.caller = self._authenticate_session(header)
            return caller
        if header is None and b"cookie" in request.headers:
            return await self._authorize_member(operation, request)
        try:
            is_suspect = self._attempts.is_suspect(request.address)
            caller = request.caller = await self._authenticate(header, is_suspect=is_suspect)
        except Unauthenticated as error:
            if header is None:
                raise
            raise self._attempts.answer(request.address, error) from None
        _check_scopes(caller, operation)
        return caller

    async def _authorize_member(self, operation: Operation, request: Request) -> Caller:
        in_environment = operation.scope is not None
        is_suspect = self._attempts.is_suspect(request.address)
        try:
            caller = await self._authenticate_member(
                request.method, request.headers, in_environment=in_environment, is_suspect=is_suspect
            )
        except Unauthenticated as error:
            if b"cookie" not in request.headers:
                raise
            raise self._attempts.answer(request.address, error) from None
        if in_environment:
            request.caller = caller
        _check_role(caller, operation)
        return caller


def _check_scopes(caller: Caller, operation: Operation) -> None:
    """Raise Forbidden if the scopes of an API key do not suffice."""
    if operation.scope is not None and not caller.has_scope(operation.scope):
        raise Forbidden(f"This API key lacks the scope '{operation.scope}'")
    if operation.also:
        _check_also(caller, operation)
    if operation.is_for_owners and not caller.has_scope(Scope.ORGANIZATION_REACH):
        raise Forbidden(
            f"This API key reaches only its own environment; an owner can create one with '{Scope.ORGANIZATION_REACH}'"
        )


def _check_role(caller: Caller, operation: Operation) -> None:
    """Raise Forbidden if the role of a member does not suffice."""
    member = caller.get_member()
    if operation.scope is not None and not caller.has_scope(operation.scope):
        raise Forbidden(
            f"Your role in this environment is {member.role}, which lacks the scope '{operation.scope}'; "
            "ask an owner for another role"
        )
    if operation.also:
        _check_also(caller, operation)
    if operation.is_for_owners and not member.is_owner:
        raise Forbidden("Only owners of the organization can do this; ask one of them")


def _check_also(caller: Caller, operation: Operation) -> None:
    missing = [scope for scope in operation.also if not caller.has_scope(scope)]
    if missing:
        raise Forbidden(
            f"{caller.title} lacks {', '.join(missing)}, which this operation needs too, for what it shows",
            ctx={"missingScopes": missing},
        )
