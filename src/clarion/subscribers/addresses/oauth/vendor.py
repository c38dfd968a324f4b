"""A vendor of chats, as its file describes it: where browsers are sent, and what their answers grant."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from msgspec import Struct

from clarion.clock import SECOND, Millis, iso_text
from clarion.providers.definition.receipts import RequestFlow
from clarion.providers.definition.request import ProviderRequest
from clarion.providers.definition.result import ProviderAnswer
from clarion.secret import PartlyPrinted
from clarion.subscribers.addresses.model import EndpointType
from clarion.subscribers.addresses.oauth.model import Attempt, OAuthProblem

MOMENTS = ("expiresAt", "refreshTokenExpiresAt")
"""When the tokens of a connection end."""


class OAuthClient(PartlyPrinted, frozen=True, kw_only=True):
    """The app at the vendor, as the integration has it."""

    PRINTED: ClassVar = ("id",)
    id: str
    secret: str
    credentials: Mapping[str, Any]


class Redirected(PartlyPrinted, frozen=True, kw_only=True):
    """What the vendor added to the address that the browser came back to: anybody can have written it."""

    PRINTED: ClassVar = ()
    code: str
    tenant: str
    admin_consent: str

    def require_code(self) -> str:
        if not self.code:
            raise OAuthProblem("The answer has no code. Begin again where you came from.")
        return self.code


class Grant(PartlyPrinted, frozen=True, kw_only=True):
    """What the vendor gave."""

    PRINTED: ClassVar = ()
    workspace: dict[str, str]
    auth: dict[str, str]
    """Empty if only a person was linked."""
    person: dict[str, str] | None
    """The address of whoever was there; None if the vendor did not say it."""
    webhook: dict[str, str] | None = None
    """An incoming webhook, which needs no token."""
    note: str = ""
    """What the person at the browser should know."""


class Onward(Struct, frozen=True, kw_only=True):
    """The vendor is asked once more before it has granted anything: the person signs in to a tenant."""

    tenant: str


class ChatVendor(Struct, frozen=True, kw_only=True):
    name: str
    person_type: EndpointType
    """The endpoint of a person who was linked."""
    authorize_url: Callable[[OAuthClient, Attempt, str, Sequence[str] | None], str]
    """Returns the address for an attempt: with its state, and the scopes if the caller wants others."""
    read_answer: Callable[[OAuthClient, Attempt, Redirected, Millis], RequestFlow[Grant | Onward]]
    """Asks the vendor what the answer grants; raises OAuthProblem."""
    signs_in_to_tenants: bool = False
    """Whether people are sent to the tenant of the connection that they are linked by."""
    renewal_request: Callable[[OAuthClient, str], ProviderRequest] | None = None
    """Asks for new tokens with a refresh token; None if tokens of this vendor do not expire."""
    accepts_renewal: Callable[[ProviderAnswer], bool] = lambda answer: answer.is_success


def read_auth(answer: ProviderAnswer, now: Millis) -> dict[str, str]:
    """The tokens of an answer, and when they end; empty if there is no access token."""
    token = as_text(answer.value("access_token"))
    if token is None:
        return {}
    return given(
        {
            "accessToken": token,
            "refreshToken": as_text(answer.value("refresh_token")),
            "expiresAt": _moment(answer.value("expires_in"), now),
            "refreshTokenExpiresAt": _moment(answer.value("refresh_token_expires_in"), now),
        }
    )


def given(values: dict[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}


def as_text(value: Any) -> str | None:
    return value if isinstance(value, str) and value and value.isprintable() else None


def _moment(seconds: Any, now: Millis) -> str | None:
    return iso_text(Millis(now + seconds * SECOND)) if isinstance(seconds, int) and seconds > 0 else None
