"""What the operations about members share."""

from clarion.db.port import Database
from clarion.http.services import Services
from clarion.members.actions import base_url
from clarion.members.links.mailing import TeamMail
from clarion.members.oidc.flow import OidcClient, OidcProvider
from clarion.members.sessions.passwords import PasswordChecks, Passwords
from clarion.members.sessions.throttle import ResetThrottle, SignInThrottle

_OIDC_CALLBACK = "/v1/auth/oidc/callback"


def share_member_services(services: Services, database: Database) -> None:
    settings, vault, clock = services.settings, services.vault, services.clock
    shared = services.shared
    passwords = Passwords()
    shared.put(Passwords, passwords)
    shared.put(PasswordChecks, PasswordChecks(passwords, SignInThrottle(clock)))
    shared.put(ResetThrottle, ResetThrottle(clock))
    shared.put(TeamMail, TeamMail(database, settings=settings, clock=clock))
    if settings.oidc_issuer is not None and settings.oidc_client_id is not None:
        provider = OidcProvider(
            issuer=settings.oidc_issuer,
            client_id=settings.oidc_client_id,
            client_secret=settings.oidc_client_secret,
            redirect_url=settings.oidc_redirect or base_url(settings) + _OIDC_CALLBACK,
            trusts_addresses=settings.oidc_trust_addresses is not None,
        )
        shared.put(OidcClient, OidcClient(provider, vault, clock))
