"""Which member somebody is who signed in with another provider."""

from clarion.audit.model import Action
from clarion.audit.recording import author_of_member, record
from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.errors import Invalid
from clarion.ids import OrganizationId
from clarion.members import store
from clarion.members.actions import NewMember, accept_link, create_member, find_home
from clarion.members.model import Access, Member, domain_of
from clarion.members.oidc.flow import Identity
from clarion.members.oidc.problem import OidcProblem, OidcRefusal
from clarion.members.sessions.wire import PersonName
from clarion.settings.model import Settings


async def find_member(
    db: Connection, identity: Identity, settings: Settings, now: Millis, *, request_id: str | None = None
) -> Member:
    """Return the member of an address; somebody new becomes one if they are invited, or by the domain of the address.

    A member who is known keeps their role, whatever the domain says. Raises OidcProblem for everybody else, and for
    those whom several organizations invite: they choose by opening a link.
    """
    email = identity.email
    member = await store.find_member_by_email(db, email)
    if member is not None:
        return member
    name = identity.name if PersonName.accepts(identity.name) else email
    person = NewMember(email=email, name=name, password=None)
    home = await find_home(db, email, settings)
    invitations = [one for one in await store.lock_invitations(db, email, now) if home in (None, one.organization_id)]
    if len(invitations) > 1:
        raise OidcProblem(f"Several organizations invite {email}", OidcRefusal.SEVERAL_INVITATIONS)
    if invitations:
        return await accept_link(db, invitations[0], person, now, request_id=request_id)
    if home is None:
        raise OidcProblem(f"Nobody invited {email}, and its domain has no role", OidcRefusal.NOT_ALLOWED)
    access = Access(role=dict(settings.oidc_domains)[domain_of(email)])
    return await _create(db, home, person, access, now, request_id)


async def _create(
    db: Connection,
    organization_id: OrganizationId,
    person: NewMember,
    access: Access,
    now: Millis,
    request_id: str | None,
) -> Member:
    try:
        member = await create_member(db, organization_id, person, access, now)
    except Invalid:
        # The same person at the same time, in another tab.
        existing = await store.find_member_by_email(db, person.email)
        if existing is None:
            raise
        return existing
    await record(db, Action.MEMBER_CREATE, author_of_member(member, request_id), now, after=member)
    return member
