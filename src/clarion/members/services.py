"""What the operations about members share."""

from clarion.db.port import Database
from clarion.http.services import Services
from clarion.members.links.addresses import redirect_url
from clarion.members.links.mailing import TeamMail
from clarion.members.oidc.flow import OidcClient, OidcProvider
from clarion.members.sessions.password_checks import PasswordChecks
from clarion.members.sessions.passwords import Passwords
from clarion.members.sessions.throttle import ResetThrottle, SignInThrottle


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
            redirect_url=redirect_url(settings),
            trusts_addresses=settings.oidc_trust_addresses is not None,
        )
        shared.put(OidcClient, OidcClient(provider, vault, clock))
