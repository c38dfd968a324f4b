"""Which member somebody is who signed in with another provider."""

from clarion.audit.model import Action
from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.environments.store import list_environments
from clarion.errors import Invalid
from clarion.members import store
from clarion.members.actions import NewMember, accept_link, create_member
from clarion.members.addresses import domain_of
from clarion.members.auditing import author_of_member, record_member
from clarion.members.model import Access, Member
from clarion.members.oidc import Identity
from clarion.members.oidc_problem import OidcProblem, OidcRefusal
from clarion.members.session_wire import PersonName
from clarion.settings import Settings
from clarion.vocabulary import Role


async def find_member(
    db: Connection, identity: Identity, settings: Settings, now: Millis, *, request_id: str | None = None
) -> Member:
    """Return the member of an address; somebody new becomes one if they are invited, or by the domain of the address.

    A member who is known keeps their role, whatever the domain says. Raises OidcProblem for everybody else.
    """
    email = identity.email
    member = await store.find_member_by_email(db, email)
    if member is not None:
        return member
    name = identity.name if PersonName.accepts(identity.name) else email
    person = NewMember(email=email, name=name, password=None)
    invitation = await store.find_invitation(db, email, now)
    if invitation is not None:
        return await accept_link(db, invitation, person, now, request_id=request_id)
    role = dict(settings.oidc_domains).get(domain_of(email))
    if role is None:
        raise OidcProblem(f"Nobody invited {email}, and its domain has no role", OidcRefusal.NOT_ALLOWED)
    return await _create(db, person, role, now, request_id)


async def _create(db: Connection, person: NewMember, role: Role, now: Millis, request_id: str | None) -> Member:
    environments = await list_environments(db)
    if not environments:
        raise OidcProblem("There is no organization", OidcRefusal.NOT_ALLOWED)
    try:
        member = await create_member(db, environments[0].organization_id, person, Access(role=role), now)
    except Invalid:
        # The same person at the same time, in another tab.
        found = await store.find_member_by_email(db, person.email)
        if found is None:
            raise
        return found
    await record_member(db, Action.MEMBER_CREATE, author_of_member(member, request_id), now, after=member)
    return member
