"""Which organization somebody can become a member of.

A member belongs to one organization at a time, and people of a domain with a role (`CLARION_OIDC_DOMAINS`) belong to
the first one. Others may invite them all the same, and learn nothing: only the person who opens the link does.
"""

from clarion.db.port import Connection
from clarion.environments.store import list_environments
from clarion.errors import Invalid
from clarion.ids import OrganizationId
from clarion.members import store
from clarion.members.addresses import MemberAddress, domain_of
from clarion.settings.model import Settings

_MEMBER_ALREADY = "is for somebody who is a member already: sign in"
_MEMBER_ELSEWHERE = (
    "is for somebody who is a member of another organization here, and nobody can be one of two: ask its admins to "
    "remove you, then open this link again"
)
_HOME_ELSEWHERE = (
    "is for an address of a domain whose people belong to another organization here: sign in with the provider instead"
)


async def find_home(db: Connection, address: MemberAddress, settings: Settings) -> OrganizationId | None:
    """Return the organization that people of the domain belong to; None if it has no role."""
    if domain_of(address) not in dict(settings.oidc_domains):
        return None
    environments = await list_environments(db)
    return environments[0].organization_id if environments else None


async def require_free(
    db: Connection, address: MemberAddress, organization_id: OrganizationId, settings: Settings
) -> None:
    """Raise Invalid, with the reason for the person, if they cannot accept the invitation of an organization."""
    member = await store.find_member_by_email(db, address)
    if member is not None:
        is_own = member.organization_id == organization_id
        raise Invalid.field("token", _MEMBER_ALREADY if is_own else _MEMBER_ELSEWHERE)
    if await find_home(db, address, settings) not in (None, organization_id):
        raise Invalid.field("token", _HOME_ELSEWHERE)
