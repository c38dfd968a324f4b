"""Who uses the service: organizations, environments, keys, the answers kept for them, and the people who sign in."""

from sqlalchemy import Column, Index, Integer, LargeBinary, SmallInteger, Table, Text, UniqueConstraint
from sqlalchemy.dialects.postgresql import BYTEA

from clarion.db.schema.columns import Digest, Hash, id_, metadata, moment, text_

organizations = Table(
    "organizations",
    metadata,
    id_("id", key=True),
    text_("name"),
    text_("options", optional=True),  # JSON object: languages
    moment("created_at"),
)

environments = Table(
    "environments",
    metadata,
    id_("id", key=True),
    id_("organization_id"),
    id_("parent_id", optional=True),
    text_("name"),
    text_("kind"),
    Column("identifier", Text, nullable=False, unique=True),
    text_("timezone", optional=True),  # of people who have none
    Column("configuration_version", Integer, nullable=False, server_default="0"),  # raised by each change of it
    Column("session_epoch", Integer, nullable=False, server_default="0"),  # raised to end all sessions of subscribers
    text_("options", optional=True),  # JSON object: rate limits, retention
    text_("mail_options", optional=True),  # JSON object: tracking and replies
    text_("link_secret", optional=True),  # sealed: what links to people are signed with; NULL: made at the next start
    moment("created_at"),
    moment("updated_at"),
    moment("deleted_at", optional=True),  # its data is deleted in the background from then on
    UniqueConstraint("organization_id", "name", name="environments_name"),
)

api_keys = Table(
    "api_keys",
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    Column("hash", LargeBinary(32).with_variant(BYTEA(), "postgresql"), nullable=False, unique=True),
    text_("name"),
    text_("hint"),  # the last four characters, for people to tell keys apart
    text_("scopes"),  # JSON array
    text_("sealed", optional=True),  # the key itself, to check what subscribers' hashes were made with
    moment("created_at"),
    moment("expires_at", optional=True),
    moment("last_used_at", optional=True),
    moment("revoked_at", optional=True),
    id_("created_by", optional=True),  # the member who made it, with whose rights its reach beyond the environment ends
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    id_("id", key=True),  # in order of time: rows are appended, and expire from the front
    id_("environment_id"),
    Column("digest", Digest, nullable=False),  # of environment, method, path and key
    Column("fingerprint", Digest, nullable=False),  # of rights, query and body
    Column("status", SmallInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),  # sealed
    Index("idempotency_keys_digest", "digest", unique=True),
    sqlite_with_rowid=False,
)


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
