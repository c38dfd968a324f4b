"""People who sign in: members, their sessions, and the links that let them in."""

from sqlalchemy import Column, Index, Table, Text

from clarion.db.schema.columns import Hash, id_, metadata, moment, text_

members = Table(
    "members",
    metadata,
    id_("id", key=True),
    id_("organization_id"),
    Column("email", Text, nullable=False, unique=True),  # in lower case
    text_("name"),
    text_("role"),
    text_("environment_roles"),  # JSON object: role or null by id of the environment
    text_("password", optional=True),  # the PHC string of its hash
    moment("created_at"),
    moment("updated_at"),
    Index("members_organization", "organization_id", "id"),
)

member_sessions = Table(
    "member_sessions",
    metadata,
    Column("hash", Hash, primary_key=True),  # of the cookie
    id_("member_id"),
    text_("user_agent", optional=True),
    text_("address", optional=True),
    moment("created_at"),
    moment("seen_at"),
    Index("member_sessions_member", "member_id"),
    sqlite_with_rowid=False,
)

member_links = Table(
    "member_links",  # each works once, and is deleted then
    metadata,
    Column("hash", Hash, primary_key=True),  # of the token
    text_("kind"),  # setup, invitation, reset
    id_("organization_id"),
    text_("email", optional=True),
    text_("role", optional=True),
    text_("environment_roles"),
    id_("invited_by", optional=True),
    moment("created_at"),
    moment("expires_at"),
    Index("member_links_email", "email"),
    sqlite_with_rowid=False,
)
