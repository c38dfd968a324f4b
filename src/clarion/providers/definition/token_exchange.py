"""How an account gets an access token from its provider, and how requests send it."""

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from msgspec import Struct

from clarion.clock import Millis
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.request import ProviderRequest, bearer
from clarion.secret import Secret

A = TypeVar("A", bound=Credentials)


def _always(_: Any) -> bool:
    return True


class TokenExchange(Struct, Generic[A], frozen=True, kw_only=True):
    """How an account obtains an access token, and which headers send it."""

    request: Callable[[A, Millis], ProviderRequest]
    path: Callable[[A], str] = lambda _: "access_token"
    lifetime: str = "expires_in"
    """The JSON path of the lifetime in seconds."""
    default_lifetime: int = 3_600
    auth: Callable[[A, Secret], Mapping[str, str]] = lambda _, token: bearer(token)
    is_needed: Callable[[A], bool] = _always
