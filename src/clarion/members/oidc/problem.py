"""Why signing in with an OpenID Connect provider failed."""

from enum import StrEnum

from clarion.errors import ClarionError


class OidcRefusal(StrEnum):
    """Why signing in failed, for the page that shows it."""

    BEGIN_AGAIN = "begin-again"
    """The answer belongs to no attempt, or to one that is over."""
    NO_ADDRESS = "no-address"
    NOT_VERIFIED = "not-verified"
    VERIFICATION_UNKNOWN = "verification-unknown"
    """The provider does not say whether it has verified the address, and is not trusted without that."""
    NOT_ALLOWED = "not-allowed"
    """Nobody invited the address, and its domain has no role."""
    SEVERAL_INVITATIONS = "several-invitations"
    """Several organizations invited the address, and the person has to choose one."""
    REFUSED = "refused"
    """The provider says no, or the person did."""
    UNAVAILABLE = "unavailable"
    """The provider cannot be asked, or answers what it must not."""


class OidcProblem(ClarionError):
    """Signing in with the provider failed; the message is for the log."""

    def __init__(self, message: str, reason: OidcRefusal = OidcRefusal.UNAVAILABLE) -> None:
        super().__init__(message)
        self.reason = reason
