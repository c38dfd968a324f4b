"""SQL of members, their sessions and links. They belong to an organization, not to an environment."""

from collections.abc import Mapping, Sequence

import msgspec

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.ids import MemberId, OrganizationId
from clarion.jsontext import json_text
from clarion.members.model import MAX_AGE, MAX_IDLE, Link, LinkKind, Member, MemberAddress, MemberSession, TokenHash
from clarion.vocabulary import Role

_decode_roles = msgspec.json.Decoder(dict[str, Role | None]).decode

_MEMBER = "id, organization_id, email, name, role, environment_roles, password, created_at, updated_at"
INSERT_MEMBER = sql(f"""
    INSERT INTO members ({_MEMBER})
    VALUES (:id, :organization_id, :email, :name, :role, :environment_roles, :password, :created_at, :updated_at)
    ON CONFLICT (email) DO NOTHING
""")
HAS_OWNER = sql("""
    SELECT 1 AS found FROM members WHERE organization_id = :organization_id AND role = 'owner' LIMIT 1
""")
HAS_ANY_OWNER = sql("SELECT 1 AS found FROM members WHERE role = 'owner' LIMIT 1")
FIND_MEMBER_BY_EMAIL = sql(f"SELECT {_MEMBER} FROM members WHERE email = :email")
FIND_MEMBER = sql(f"SELECT {_MEMBER} FROM members WHERE id = :id")
LOCK_MEMBER = sql(f"SELECT {_MEMBER} FROM members WHERE id = :id {{for_update}}")
LIST_MEMBERS = sql(f"SELECT {_MEMBER} FROM members WHERE organization_id = :organization_id ORDER BY id")
UPDATE_MEMBER = sql("""
    UPDATE members SET
        name = :name, role = :role, environment_roles = :environment_roles, password = :password,
        updated_at = :updated_at
    WHERE id = :id
""")
DELETE_MEMBER = sql("DELETE FROM members WHERE id = :id")

_SESSION = "hash, member_id, user_agent, address, created_at, seen_at"
INSERT_SESSION = sql(f"""
    INSERT INTO member_sessions ({_SESSION})
    VALUES (:hash, :member_id, :user_agent, :address, :created_at, :seen_at)
""")
FIND_SESSION = sql(f"SELECT {_SESSION} FROM member_sessions WHERE hash = :hash")
LIST_SESSIONS_BY_HASH = sql(f"SELECT {_SESSION} FROM member_sessions WHERE hash {{any:hashes}}")
LIST_MEMBERS_BY_ID = sql(f"SELECT {_MEMBER} FROM members WHERE id {{any:ids}}")
LIST_SESSIONS = sql(f"SELECT {_SESSION} FROM member_sessions WHERE member_id = :member_id ORDER BY created_at, hash")
LIST_ORGANIZATION_SESSIONS = sql(f"""
    SELECT {_SESSION} FROM member_sessions
    WHERE member_id IN (SELECT id FROM members WHERE organization_id = :organization_id)
""")
MARK_SESSION_SEEN = sql("UPDATE member_sessions SET seen_at = :now WHERE hash = :hash AND seen_at < :now")
DELETE_SESSION = sql("DELETE FROM member_sessions WHERE hash = :hash")
DELETE_SESSIONS = sql("DELETE FROM member_sessions WHERE member_id = :member_id AND hash <> :kept")
DELETE_SURPLUS_SESSIONS = sql("""
    DELETE FROM member_sessions WHERE member_id = :member_id AND hash IN (
        SELECT hash FROM member_sessions WHERE member_id = :member_id
        AND hash <> :kept ORDER BY seen_at DESC, hash LIMIT :limit OFFSET :others
    )
""")
DELETE_OLD_SESSIONS = sql("DELETE FROM member_sessions WHERE seen_at <= :idle_since OR created_at <= :begun_before")

_LINK = "hash, kind, organization_id, email, role, environment_roles, invited_by, created_at, expires_at"
INSERT_LINK = sql(f"""
    INSERT INTO member_links ({_LINK})
    VALUES (
        :hash, :kind, :organization_id, :email, :role, :environment_roles, :invited_by, :created_at, :expires_at
    )
""")
FIND_LINK = sql(f"SELECT {_LINK} FROM member_links WHERE hash = :hash {{for_update}}")
READ_LINK = sql(f"SELECT {_LINK} FROM member_links WHERE hash = :hash")
LOCK_INVITATIONS = sql(f"""
    SELECT {_LINK} FROM member_links WHERE email = :email AND kind = 'invitation' AND expires_at > :now
    ORDER BY created_at, hash {{for_update}}
""")
LIST_RESET_LINKS = sql(f"""
    SELECT {_LINK} FROM member_links WHERE email = :email AND kind = 'reset' AND expires_at > :now
    ORDER BY created_at, hash
""")
LIST_INVITATIONS = sql(f"""
    SELECT {_LINK} FROM member_links
    WHERE organization_id = :organization_id AND kind = 'invitation' AND expires_at > :now
    ORDER BY created_at, hash
""")
DELETE_LINK = sql("DELETE FROM member_links WHERE hash = :hash")
DELETE_SETUP_LINKS = sql("DELETE FROM member_links WHERE kind = 'setup' AND organization_id = :organization_id")
DELETE_RESET_LINKS = sql("DELETE FROM member_links WHERE kind = 'reset' AND email = :email")
DELETE_INVITATIONS = sql("""
    DELETE FROM member_links WHERE kind = 'invitation' AND email = :email AND organization_id = :organization_id
""")
DELETE_OLD_LINKS = sql("DELETE FROM member_links WHERE expires_at <= :now")


DELETE_ALL = (
    sql("""
        DELETE FROM member_sessions
        WHERE member_id IN (SELECT id FROM members WHERE organization_id = :organization_id)
    """),
    sql("DELETE FROM members WHERE organization_id = :organization_id"),
    sql("DELETE FROM member_links WHERE organization_id = :organization_id"),
)


async def has_owner(db: Connection, organization_id: OrganizationId) -> bool:
    return await db.fetch_one(HAS_OWNER, organization_id=organization_id) is not None


async def has_any_owner(db: Connection) -> bool:
    return await db.fetch_one(HAS_ANY_OWNER) is not None


async def insert_member(db: Connection, member: Member) -> bool:
    """Insert a member; returns whether the address was free."""
    return await db.execute(INSERT_MEMBER, **_member_values(member)) > 0


async def find_member_by_email(db: Connection, email: MemberAddress) -> Member | None:
    return _member_of(await db.fetch_one(FIND_MEMBER_BY_EMAIL, email=email))


async def find_member(db: Connection, member_id: MemberId) -> Member | None:
    return _member_of(await db.fetch_one(FIND_MEMBER, id=member_id))


async def lock_member(db: Connection, member_id: MemberId) -> Member | None:
    """Find a member to change them: other changes wait, and are not overwritten."""
    return _member_of(await db.fetch_one(LOCK_MEMBER, id=member_id))


async def list_members(db: Connection, organization_id: OrganizationId) -> list[Member]:
    rows = await db.fetch(LIST_MEMBERS, organization_id=organization_id)
    return [member for member in map(_member_of, rows) if member is not None]


async def update_member(db: Connection, member: Member) -> None:
    """Write everything of a member that can change; `lock_member` returned the one that this replaces."""
    values = _member_values(member)
    for name in ("organization_id", "email", "created_at"):
        del values[name]
    await db.execute(UPDATE_MEMBER, **values)


async def delete_member(db: Connection, member_id: MemberId) -> None:
    """Delete a member and end their sessions."""
    await db.execute(DELETE_SESSIONS, member_id=member_id, kept=b"")
    await db.execute(DELETE_MEMBER, id=member_id)


async def delete_all(db: Connection, organization_id: OrganizationId) -> None:
    """Delete the members of an organization that is deleted, with their sessions and links."""
    for query in DELETE_ALL:
        await db.execute(query, organization_id=organization_id)


async def insert_session(db: Connection, session: MemberSession) -> None:
    await db.execute(INSERT_SESSION, **{name: getattr(session, name) for name in session.__struct_fields__})


async def find_session(db: Connection, token_hash: TokenHash) -> MemberSession | None:
    row = await db.fetch_one(FIND_SESSION, hash=token_hash)
    return None if row is None else MemberSession(**row)


async def list_sessions_by_hash(
    db: Connection, hashes: Sequence[TokenHash]
) -> dict[TokenHash, tuple[MemberSession, Member]]:
    """Find sessions and whose they are, those that are over included."""
    sessions = [MemberSession(**row) for row in await db.fetch(LIST_SESSIONS_BY_HASH, hashes=hashes)]
    if not sessions:
        return {}
    rows = await db.fetch(LIST_MEMBERS_BY_ID, ids=list({one.member_id for one in sessions}))
    members = {member.id: member for member in map(_member_of, rows) if member is not None}
    return {one.hash: (one, members[one.member_id]) for one in sessions if one.member_id in members}


async def list_sessions(db: Connection, member_id: MemberId) -> list[MemberSession]:
    return [MemberSession(**row) for row in await db.fetch(LIST_SESSIONS, member_id=member_id)]


async def list_organization_sessions(
    db: Connection, organization_id: OrganizationId, now: Millis
) -> dict[MemberId, list[MemberSession]]:
    """List the sessions of all members of an organization that are not over, by member."""
    by_member: dict[MemberId, list[MemberSession]] = {}
    for row in await db.fetch(LIST_ORGANIZATION_SESSIONS, organization_id=organization_id):
        session = MemberSession(**row)
        if not session.is_over(now):
            by_member.setdefault(session.member_id, []).append(session)
    return by_member


async def mark_sessions_seen(db: Connection, seen: Mapping[TokenHash, Millis]) -> None:
    for token_hash, at in seen.items():
        await db.execute(MARK_SESSION_SEEN, hash=token_hash, now=at)


async def delete_session(db: Connection, token_hash: TokenHash) -> bool:
    """End a session; returns whether there was one."""
    return await db.execute(DELETE_SESSION, hash=token_hash) > 0


async def delete_other_sessions(db: Connection, member_id: MemberId, kept: TokenHash) -> None:
    """End all sessions of a member but one; an empty hash ends all."""
    await db.execute(DELETE_SESSIONS, member_id=member_id, kept=kept)


async def delete_surplus_sessions(db: Connection, member_id: MemberId, kept: TokenHash, *, others: int) -> None:
    """End the sessions of a member but one and some others, those that were not used for longest."""
    await db.execute(DELETE_SURPLUS_SESSIONS, member_id=member_id, kept=kept, others=others, limit=1_000_000)


async def insert_link(db: Connection, link: Link) -> None:
    values = {name: getattr(link, name) for name in link.__struct_fields__}
    await db.execute(INSERT_LINK, **values | {"environment_roles": json_text(link.environment_roles)})


async def find_link(db: Connection, token_hash: TokenHash, *, locks: bool = True) -> Link | None:
    """Find a link and lock it, so that it works once."""
    row = await db.fetch_one(FIND_LINK if locks else READ_LINK, hash=token_hash)
    return None if row is None else _link_of(row)


async def lock_invitations(db: Connection, email: MemberAddress, now: Millis) -> list[Link]:
    """List the invitations of an address that still work, whichever organizations made them, and lock them."""
    return [_link_of(row) for row in await db.fetch(LOCK_INVITATIONS, email=email, now=now)]


async def list_reset_links(db: Connection, email: MemberAddress, now: Millis) -> list[Link]:
    """List the links of an address that still work, oldest first."""
    return [_link_of(row) for row in await db.fetch(LIST_RESET_LINKS, email=email, now=now)]


async def list_invitations(db: Connection, organization_id: OrganizationId, now: Millis) -> list[Link]:
    rows = await db.fetch(LIST_INVITATIONS, organization_id=organization_id, now=now)
    return [_link_of(row) for row in rows]


async def delete_link(db: Connection, token_hash: TokenHash) -> None:
    await db.execute(DELETE_LINK, hash=token_hash)


async def delete_setup_links(db: Connection, organization_id: OrganizationId) -> None:
    await db.execute(DELETE_SETUP_LINKS, organization_id=organization_id)


async def delete_reset_links(db: Connection, email: MemberAddress) -> None:
    await db.execute(DELETE_RESET_LINKS, email=email)


async def delete_invitations(db: Connection, organization_id: OrganizationId, email: MemberAddress) -> None:
    """Delete the invitation of an address to one organization; others may have invited the same person."""
    await db.execute(DELETE_INVITATIONS, organization_id=organization_id, email=email)


async def delete_expired(db: Connection, now: Millis) -> None:
    """Delete sessions and links that are over."""
    await db.execute(DELETE_OLD_SESSIONS, idle_since=now - MAX_IDLE, begun_before=now - MAX_AGE)
    await db.execute(DELETE_OLD_LINKS, now=now)


def _member_values(member: Member) -> dict[str, object]:
    values = {name: getattr(member, name) for name in member.__struct_fields__}
    return values | {"environment_roles": json_text(member.environment_roles)}


def _member_of(row: Row | None) -> Member | None:
    if row is None:
        return None
    roles = _decode_roles(row["environment_roles"])
    return Member(**{**row, "role": Role(row["role"]), "environment_roles": roles})


def _link_of(row: Row) -> Link:
    role = None if row["role"] is None else Role(row["role"])
    values = {**row, "role": role, "kind": LinkKind(row["kind"])}
    return Link(**values | {"environment_roles": _decode_roles(row["environment_roles"])})
