"""What is set up: workflows, their versions, integrations."""

from sqlalchemy import Boolean, Column, Float, Index, Integer, Table, text

from clarion.db.schema.columns import flag, id_, metadata, moment, text_

workflows = Table(
    "workflows",
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    text_("key"),
    text_("name"),
    text_("description", optional=True),
    flag("active"),
    text_("tags"),  # JSON array
    text_("severity"),
    text_("default_preference", optional=True),  # JSON: what the workflow's author set
    text_("user_preference", optional=True),  # JSON: what the team overrode
    text_("tracking", optional=True),  # JSON: what it tracks, where it differs from the environment
    Column("takes_replies", Boolean, nullable=True),  # NULL: as the environment does
    id_("version_id"),
    moment("created_at"),
    moment("updated_at"),
    moment("deleted_at", optional=True),
    Index(
        "workflows_key",
        "environment_id",
        "key",
        unique=True,
        sqlite_where=text("deleted_at IS NULL"),
        postgresql_where=text("deleted_at IS NULL"),
    ),
)

workflow_versions = Table(
    "workflow_versions",
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    id_("workflow_id"),
    Column("number", Integer, nullable=False),
    text_("steps"),  # JSON array
    text_("payload_schema", optional=True),  # JSON
    flag("validate_payload"),
    moment("created_at"),
    text_("moved", optional=True),  # JSON: what it is made of, if nobody saved it; its number is negative then
    Index("workflow_versions_number", "environment_id", "workflow_id", "number", unique=True),
)

workflow_version_notes = Table(
    "workflow_version_notes",  # who made a version, from what, and what it changed
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),  # of the version
    text_("kind"),  # workflows.history.VersionKind
    id_("source_id", optional=True),  # what it was made from
    text_("actor_type", optional=True),
    text_("actor_id", optional=True),
    text_("actor_name", optional=True),
    text_("changes"),  # JSON array
    sqlite_with_rowid=False,
)

integrations = Table(
    "integrations",
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    text_("provider_id"),
    text_("channel"),
    text_("name"),
    text_("identifier"),
    text_("credentials"),  # sealed JSON object
    text_("conditions"),  # JSON array
    flag("active"),
    flag("is_primary"),
    Column("priority", Integer, nullable=False),
    Column("weight", Integer, nullable=False, server_default="100"),  # its share among those of its channel
    Column("rate_limit", Float, nullable=True),  # messages a second
    text_("reports_from", optional=True),  # the provider's customer who reported first, where its signature is for all
    moment("created_at"),
    moment("updated_at"),
    moment("deleted_at", optional=True),
    id_("deleted_by", optional=True),
    Index(
        "integrations_identifier",
        "environment_id",
        "identifier",
        unique=True,
        sqlite_where=text("deleted_at IS NULL"),
        postgresql_where=text("deleted_at IS NULL"),
    ),
    Index(
        "integrations_primary",
        "environment_id",
        "channel",
        unique=True,
        sqlite_where=text("is_primary AND deleted_at IS NULL"),
        postgresql_where=text("is_primary AND deleted_at IS NULL"),
    ),
)
